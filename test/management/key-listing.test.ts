import { assert, suite } from '../support/suite.ts'
import { openManagement } from './open-management.ts'

const test = suite('listing keys')

interface Page {
  keys: { id: string; name: string; key?: string; hint?: string }[]
  after?: string
}

async function withKeys(names: readonly string[]) {
  const management = openManagement()
  for (const name of names) await management.gateway.api.keys.create({ name })
  const list = async (query: string) => (await management.expect(200, 'GET', `/api/keys${query}`)) as unknown as Page
  return { ...management, list }
}

const listNames = ({ keys }: Page) => keys.map(({ name }) => name)

test('lists keys with their values by default, and returns nothing else', async () => {
  const { list, gateway } = await withKeys(['one'])
  const body = await list('')
  assert.equal(body, await gateway.api.keys.list())
  assert.equal(Object.keys(body), ['keys'])
  assert.match(body.keys[0]?.key ?? '', /^sbx_/)
  assert.is(body.keys[0]?.hint, undefined)
})

test('with values=none, shows only the start and end of each value, even for a single key', async () => {
  const { list, expect, gateway } = await withKeys(['one', 'two'])
  const full = (await gateway.api.keys.list()).keys
  const { keys } = await list('?values=none')
  const hint = (key: string) => `${key.slice(0, 6)}…${key.slice(-2)}`
  assert.equal(
    keys,
    full.map(({ key, ...others }) => ({ ...others, hint: hint(key) })),
  )
  const one = await expect(200, 'GET', `/api/keys/${keys[0]?.id}?values=none`)
  assert.equal(one, { key: keys[0] })
  assert.equal(await gateway.api.keys.get(keys[0]?.id ?? '', { values: 'none' }), { key: keys[0] })
})

test("the next page of keys is right even if the previous page's last key was deleted", async () => {
  const names = ['a', 'b', 'c', 'd', 'e']
  const { list, gateway } = await withKeys(names)
  const first = await list('?limit=2&values=none')
  assert.equal(listNames(first), ['a', 'b'])
  const { after = '', keys } = first
  assert.equal(listNames(await list(`?limit=2&after=${encodeURIComponent(after)}`)), ['c', 'd'])
  await gateway.api.keys.delete(keys[1]?.id ?? '')
  const second = await list(`?limit=3&after=${encodeURIComponent(after)}`)
  assert.equal(listNames(second), ['c', 'd', 'e'])
  assert.is(second.after, undefined)
  assert.equal(listNames(await list(`?after=${encodeURIComponent('99:gone')}`)), [])
})

test('finds keys by part of their name or id, with or without pagination', async () => {
  const { list } = await withKeys(['Team A', 'team b', 'other', 'my TEAM'])
  assert.equal(listNames(await list('?q=team')), ['Team A', 'team b', 'my TEAM'])
  const { after = '', ...first } = await list('?q=team&limit=2')
  assert.equal(listNames(first), ['Team A', 'team b'])
  assert.equal(listNames(await list(`?q=team&limit=2&after=${encodeURIComponent(after)}`)), ['my TEAM'])
  const all = await list('')
  assert.equal(listNames(await list(`?q=${all.keys[2]?.id.toUpperCase()}`)), ['other'])
  assert.equal(listNames(await list('?q=12345678901234567890')), [])
})

test('rejects an unknown key list parameter with an error that names it', async () => {
  const { list: _, expectError } = await withKeys([])
  await expectError(400, '"values" must be one of "all", "none"', ['GET', '/api/keys?values=some'])
  await expectError(400, '"limit" must be a whole number from 1 to 1000', ['GET', '/api/keys?limit=0'])
  await expectError(400, '"after" must be the "after" value of a previous page', ['GET', '/api/keys?after=x'])
  await expectError(400, '"q" can only appear once.', ['GET', '/api/keys?q=a&q=b'])
  await expectError(400, 'Unknown field "value". Did you mean "values"?', ['GET', '/api/keys?value=none'])
  await expectError(400, 'Unknown field "limit". Known: "values".', ['GET', '/api/keys/x?limit=1'])
})
