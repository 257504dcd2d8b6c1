import type { AssistantPart, ToolCallPart } from '../../../src/protocols/formats/canonical/canonical-parts.ts'
import type { OpaqueState } from '../../../src/protocols/formats/canonical/canonical-state.ts'
import type { StreamEvent } from '../../../src/protocols/formats/canonical/canonical-stream.ts'
import type { Turn } from '../../../src/protocols/formats/canonical/canonical-turns.ts'
import { createReasoningMemory } from '../../../src/protocols/formats/canonical/reasoning-memory.ts'
import { assert, suite } from '../../support/suite.ts'

const test = suite('reasoning remembered for tool calls')

const state = (data: string): OpaqueState => ({
  origin: { format: 'anthropic-messages', account: 'a' },
  kind: 'signature',
  data,
})
const createReasoning = (text: string, data = text): AssistantPart => ({ type: 'reasoning', text, state: state(data) })
const call = (id: string, extra: Partial<ToolCallPart> = {}): ToolCallPart => ({
  ...{ type: 'tool-call', id, name: 'f', arguments: '{}' },
  ...extra,
})
const textPart: AssistantPart = { type: 'text', text: 'Let me see.' }
/** Identifies the response to an empty conversation. */
const K = { owner: 'k', turns: [] }
const turn = (...content: AssistantPart[]): Turn[] => [{ role: 'assistant', content }]

test('stored reasoning is restored to its original position in the turn', () => {
  const memory = createReasoningMemory()
  memory.store(K, [
    createReasoning('one'),
    textPart,
    call('c1'),
    createReasoning('two'),
    call('c2'),
    call('c3', { state: state('of c3') }),
  ])
  assert.equal(memory.recall('k', turn(textPart, call('c1'), call('c2'), call('c3'))), [
    ...turn(
      createReasoning('one'),
      textPart,
      call('c1'),
      createReasoning('two'),
      call('c2'),
      call('c3', { state: state('of c3') }),
    ),
  ])
})

test('reasoning in a stream is stored just like in a non-streaming response', () => {
  const memory = createReasoningMemory()
  const passed: StreamEvent[] = []
  const listen = memory.storeFromStream(K, (event) => passed.push(event))
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
  assert.equal(memory.recall('k', turn(call('c1'))), turn(createReasoning('one'), call('c1')))
})

test('no reasoning is stored from a truncated stream', () => {
  const memory = createReasoningMemory()
  const listen = memory.storeFromStream(K, () => {})
  listen({ type: 'part-start', key: 0, candidate: 0, part: call('c1', { state: state('x') }) })
  listen({ type: 'error', error: { kind: 'server', status: 502, message: 'cut' } })
  assert.equal(memory.recall('k', turn(call('c1'))), turn(call('c1')))
})

test('stored reasoning is restored only for its owner, and only if the client sends none', () => {
  const memory = createReasoningMemory()
  memory.store(K, [createReasoning('one'), call('c1')])
  assert.equal(memory.recall('other', turn(call('c1'))), turn(call('c1')))
  const own = turn(createReasoning('mine'), call('c1'))
  assert.equal(memory.recall('k', own), own)
})

test('reasoning for calls with sequential IDs stays in its own conversation', () => {
  const memory = createReasoningMemory()
  const createRequest = (system: string, ...words: string[]): Turn[] => [
    { role: 'system', sentAs: 'system', content: [{ type: 'text', text: system }] },
    ...words.map((text): Turn => ({ role: 'user', content: [{ type: 'text', text }] })),
  ]
  const ours = createRequest('S', 'a', 'b', 'c')
  memory.store({ owner: 'k', turns: ours }, [createReasoning('one'), call('f:0')])
  const recall = (turns: Turn[], id = 'f:0', name = 'f') => {
    const textPart = memory.recall('k', [...turns, ...turn(call(id, { name }))]).at(-1)
    return textPart?.role === 'assistant' && textPart.content.length > 1
  }
  assert.ok(recall(ours))
  assert.ok(recall(createRequest('S', 'a', 'c')), 'the middle of the conversation was shortened')
  for (const other of [
    createRequest('T', 'a', 'b', 'c'),
    createRequest('S', 'x', 'c'),
    createRequest('S', 'a', 'b'),
    [],
  ])
    assert.not.ok(recall(other))
  assert.not.ok(recall(ours, 'f:0', 'g'))
  memory.store({ owner: 'k', turns: createRequest('S', 'x') }, [createReasoning('two'), call('f:0')])
  assert.ok(recall(ours), 'not overwritten')
  for (const id of ['call_aBc1dEf2', 'AbCdEfG12', '123456789', 'chatcmpl-tool-0f3c9a5e77']) {
    memory.store({ owner: 'k', turns: ours }, [createReasoning('one'), call(id)])
    assert.ok(recall(createRequest('it is 12:01 now', 'x'), id), id)
  }
})

test("reasoning without state isn't stored", () => {
  const memory = createReasoningMemory()
  memory.store(K, [{ type: 'reasoning', text: 'only words' }, call('c1')])
  assert.equal(memory.recall('k', turn(call('c1'))), turn(call('c1')))
})

test('the reasoning memory evicts the oldest entries first and skips very large entries', () => {
  const memory = createReasoningMemory()
  for (let index = 0; index <= 10_000; index++) memory.store(K, [call(`c${index}`, { state: state('x') })])
  const getState = (id: string) => {
    const [known] = memory.recall('k', turn(call(id)))
    return known?.role === 'assistant' && known.content.some((part) => 'state' in part)
  }
  assert.equal([getState('c0'), getState('c1'), getState('c10000')], [false, true, true])
  for (let index = 0; index < 40; index++)
    memory.store(K, [call(`large${index}`, { state: state('x'.repeat(1_000_000)) })])
  assert.equal([getState('c10000'), getState('large0'), getState('large39')], [false, false, true])
  memory.store(K, [call('huge', { state: state('x'.repeat(1_100_000)) })])
  assert.is(getState('huge'), false)
})

const openai = (account: string): OpaqueState['origin'] => ({ format: 'openai-responses', account })
const comment = { ...textPart, phase: 'commentary' } as const

test('a text phase before a call is restored only for the provider that sent it', () => {
  const memory = createReasoningMemory()
  memory.store({ ...K, origin: openai('a') }, [comment, call('c1'), call('c2')])
  const bare = turn(textPart, call('c1'), call('c2'), textPart)
  assert.equal(memory.recall('k', bare, openai('a')), turn(comment, call('c1'), call('c2'), textPart))
  for (const other of [openai('b'), { format: 'openai-chat', account: 'a' } as const, undefined])
    assert.equal(memory.recall('k', bare, other), bare)
})

test('a text phase is stored from a stream, even if the client also sends reasoning', () => {
  const memory = createReasoningMemory()
  const listen = memory.storeFromStream({ ...K, origin: openai('a') }, () => {})
  for (const [key, part] of [{ ...comment, text: '' }, call('c1', { arguments: '' })].entries()) {
    listen({ type: 'part-start', key, candidate: 0, part })
    listen({ type: 'part-delta', key, text: 'x' })
    listen({ type: 'part-end', key })
  }
  listen({ type: 'end', finishes: [{ reason: 'tool-calls' }] })
  const own = turn(createReasoning('mine'), textPart, call('c1'))
  assert.equal(memory.recall('k', own, openai('a')), turn(createReasoning('mine'), comment, call('c1')))
})
