import type { AssistantPart, ToolCallPart } from '../../../src/formats/canonical/parts.ts'
import { createReasoningMemory } from '../../../src/formats/canonical/reasoning-memory.ts'
import type { OpaqueState } from '../../../src/formats/canonical/state.ts'
import type { StreamEvent } from '../../../src/formats/canonical/stream.ts'
import type { Turn } from '../../../src/formats/canonical/turns.ts'
import { assert, suite } from '../../support/suite.ts'

const test = suite('reasoning remembered for tool calls')

const state = (data: string): OpaqueState => ({
  origin: { format: 'anthropic-messages', account: 'a' },
  kind: 'signature',
  data,
})
const thought = (text: string, data = text): AssistantPart => ({ type: 'reasoning', text, state: state(data) })
const call = (id: string, more: Partial<ToolCallPart> = {}): ToolCallPart => ({
  ...{ type: 'tool-call', id, name: 'f', arguments: '{}' },
  ...more,
})
const said: AssistantPart = { type: 'text', text: 'Let me see.' }
/** An answer to nothing at all. */
const K = { owner: 'k', turns: [] }
const turn = (...content: AssistantPart[]): Turn[] => [{ role: 'assistant', content }]

test('remembered reasoning returns to the start of the turn, or before its later call', () => {
  const memory = createReasoningMemory()
  memory.keep(K, [thought('one'), said, call('c1'), thought('two'), call('c2'), call('c3', { state: state('of c3') })])
  assert.equal(memory.recall('k', turn(said, call('c1'), call('c2'), call('c3'))), [
    ...turn(thought('one'), said, call('c1'), thought('two'), call('c2'), call('c3', { state: state('of c3') })),
  ])
})

test('reasoning of a stream is remembered like that of an answer', () => {
  const memory = createReasoningMemory()
  const passed: StreamEvent[] = []
  const listen = memory.listen(K, (event) => passed.push(event))
  const events: StreamEvent[] = [
    { type: 'start' },
    { type: 'part-start', key: 0, candidate: 0, part: { type: 'reasoning', text: '' } },
    { type: 'part-delta', key: 0, text: 'o' },
    { type: 'part-delta', key: 0, text: 'ne' },
    { type: 'part-state', key: 0, state: state('one') },
    { type: 'part-end', key: 0 },
    { type: 'part-start', key: 1, candidate: 0, part: call('c1', { arguments: '' }) },
    { type: 'part-delta', key: 1, text: '{}' },
    { type: 'part-end', key: 1 },
    { type: 'end', finishes: [{ reason: 'tool-calls' }] },
  ]
  for (const event of events) listen(event)
  assert.equal(passed, events)
  assert.equal(memory.recall('k', turn(call('c1'))), turn(thought('one'), call('c1')))
})

test('nothing is remembered of a truncated stream', () => {
  const memory = createReasoningMemory()
  const listen = memory.listen(K, () => {})
  listen({ type: 'part-start', key: 0, candidate: 0, part: call('c1', { state: state('x') }) })
  listen({ type: 'error', error: { kind: 'server', status: 502, message: 'cut' } })
  assert.equal(memory.recall('k', turn(call('c1'))), turn(call('c1')))
})

test('reasoning remembered for tool calls is found by its owner only, and not added to reasoning that the client returns itself', () => {
  const memory = createReasoningMemory()
  memory.keep(K, [thought('one'), call('c1')])
  assert.equal(memory.recall('other', turn(call('c1'))), turn(call('c1')))
  const own = turn(thought('mine'), call('c1'))
  assert.equal(memory.recall('k', own), own)
})

test('reasoning of calls with counted ids belongs to its own conversation', () => {
  const memory = createReasoningMemory()
  const asked = (system: string, ...words: string[]): Turn[] => [
    { role: 'system', as: 'system', content: [{ type: 'text', text: system }] },
    ...words.map((text): Turn => ({ role: 'user', content: [{ type: 'text', text }] })),
  ]
  const ours = asked('S', 'a', 'b', 'c')
  memory.keep({ owner: 'k', turns: ours }, [thought('one'), call('f:0')])
  const recalled = (turns: Turn[], id = 'f:0', name = 'f') => {
    const said = memory.recall('k', [...turns, ...turn(call(id, { name }))]).at(-1)
    return said?.role === 'assistant' && said.content.length > 1
  }
  assert.ok(recalled(ours))
  assert.ok(recalled(asked('S', 'a', 'c')), 'shortened in the middle')
  for (const other of [asked('T', 'a', 'b', 'c'), asked('S', 'x', 'c'), asked('S', 'a', 'b'), []])
    assert.not.ok(recalled(other))
  assert.not.ok(recalled(ours, 'f:0', 'g'))
  memory.keep({ owner: 'k', turns: asked('S', 'x') }, [thought('two'), call('f:0')])
  assert.ok(recalled(ours), 'not overwritten')
  for (const id of ['call_aBc1dEf2', 'AbCdEfG12', '123456789', 'chatcmpl-tool-0f3c9a5e77']) {
    memory.keep({ owner: 'k', turns: ours }, [thought('one'), call(id)])
    assert.ok(recalled(asked('it is 12:01 now', 'x'), id), id)
  }
})

test('reasoning without state is not remembered', () => {
  const memory = createReasoningMemory()
  memory.keep(K, [{ type: 'reasoning', text: 'only words' }, call('c1')])
  assert.equal(memory.recall('k', turn(call('c1'))), turn(call('c1')))
})

test('the memory is bounded: the oldest entry goes first, and a very large one is not kept', () => {
  const memory = createReasoningMemory()
  for (let nth = 0; nth <= 10_000; nth++) memory.keep(K, [call(`c${nth}`, { state: state('x') })])
  const stateOf = (id: string) => {
    const [known] = memory.recall('k', turn(call(id)))
    return known?.role === 'assistant' && known.content.some((part) => 'state' in part)
  }
  assert.equal([stateOf('c0'), stateOf('c1'), stateOf('c10000')], [false, true, true])
  for (let nth = 0; nth < 40; nth++) memory.keep(K, [call(`large${nth}`, { state: state('x'.repeat(1_000_000)) })])
  assert.equal([stateOf('c10000'), stateOf('large0'), stateOf('large39')], [false, false, true])
  memory.keep(K, [call('huge', { state: state('x'.repeat(1_100_000)) })])
  assert.is(stateOf('huge'), false)
})

const openai = (account: string): OpaqueState['origin'] => ({ format: 'openai-responses', account })
const comment = { ...said, phase: 'commentary' } as const

test('the phase of the text before a call is remembered for its origin only', () => {
  const memory = createReasoningMemory()
  memory.keep({ ...K, origin: openai('a') }, [comment, call('c1'), call('c2')])
  const bare = turn(said, call('c1'), call('c2'), said)
  assert.equal(memory.recall('k', bare, openai('a')), turn(comment, call('c1'), call('c2'), said))
  for (const other of [openai('b'), { format: 'openai-chat', account: 'a' } as const, undefined])
    assert.equal(memory.recall('k', bare, other), bare)
})

test('the phase is remembered of a stream, and beside reasoning that the client returns itself', () => {
  const memory = createReasoningMemory()
  const listen = memory.listen({ ...K, origin: openai('a') }, () => {})
  for (const [key, part] of [{ ...comment, text: '' }, call('c1', { arguments: '' })].entries()) {
    listen({ type: 'part-start', key, candidate: 0, part })
    listen({ type: 'part-delta', key, text: 'x' })
    listen({ type: 'part-end', key })
  }
  listen({ type: 'end', finishes: [{ reason: 'tool-calls' }] })
  const own = turn(thought('mine'), said, call('c1'))
  assert.equal(memory.recall('k', own, openai('a')), turn(thought('mine'), comment, call('c1')))
})
