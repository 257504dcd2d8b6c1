import { createItemMemory } from '../../../src/protocols/formats/canonical/item-memory.ts'
import { assert, suite } from '../../support/suite.ts'

const test = suite('items remembered for references')

const item = (id: string, text = '') => ({ id, type: 'message', text })

test('a remembered item is found only by its owner and ID', () => {
  const memory = createItemMemory()
  memory.store('k', 'msg_1', JSON.stringify(item('msg_1')))
  assert.equal(memory.find('k', 'msg_1'), item('msg_1'))
  assert.is(memory.has('k', 'msg_1'), true)
  for (const [owner, id] of [
    ['', 'msg_1'],
    ['other', 'msg_1'],
    ['k', 'msg_2'],
  ] as const) {
    assert.is(memory.find(owner, id), undefined)
    assert.is(memory.has(owner, id), false)
  }
})

test('beyond 10,000 remembered items, the oldest are evicted first', () => {
  const memory = createItemMemory()
  for (let index = 0; index < 10_005; index++) memory.store('k', `msg_${index}`, '{}')
  assert.is(memory.has('k', 'msg_4'), false)
  assert.is(memory.has('k', 'msg_5'), true)
  assert.is(memory.has('k', 'msg_10004'), true)
})

test('the item memory stores at most 16 MiB, and no item over 1 MiB', () => {
  const memory = createItemMemory()
  memory.store('k', 'msg_large', JSON.stringify(item('msg_large', 'x'.repeat(1024 * 1024))))
  assert.is(memory.has('k', 'msg_large'), false)
  const almost = 'x'.repeat(1_000_000)
  for (let index = 0; index < 20; index++)
    memory.store('k', `msg_${index}`, JSON.stringify(item(`msg_${index}`, almost)))
  const kept = Array.from({ length: 20 }, (_, index) => memory.has('k', `msg_${index}`))
  assert.equal(kept.indexOf(true), 4)
  assert.equal(kept.slice(4).includes(false), false)
})

test('an item stored in the memory twice counts once', () => {
  const memory = createItemMemory()
  const json = JSON.stringify(item('msg_1', 'x'.repeat(1_000_000)))
  memory.store('k', 'msg_0', '{}')
  for (let times = 0; times < 40; times++) memory.store('k', 'msg_1', json)
  assert.is(memory.has('k', 'msg_0'), true)
})
