import { baseTraits } from '../../../../src/protocols/formats/canonical/base-traits.ts'
import type { OpaqueState } from '../../../../src/protocols/formats/canonical/canonical-state.ts'
import type { Turn } from '../../../../src/protocols/formats/canonical/canonical-turns.ts'
import { busyMs } from '../../../support/cpu-time.ts'
import { assert, suite } from '../../../support/suite.ts'
import { assistant, call, type Input, ORIGIN, prepare, result, system, text, tool, user } from './support/prepare.ts'

const BASE = baseTraits.reasoning
const createNamedResult = (id: string, ...content: string[]) => ({ ...result(id, ...content), name: 'f' })
const createMissingResult = (id: string) => ({
  ...createNamedResult(id, '[no result recorded]'),
  isError: true as const,
})

const free = (id: string) => ({ ...call(id), isFreeForm: true }) as const
const freed = <R extends object>(input: R) => ({ ...input, isFreeForm: true as const })

const image = { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'AA==' } } as const
const state = (account: string): OpaqueState => ({ origin: { ...ORIGIN, account }, kind: 'signature', data: 's' })
const createReasoning = (account: string) => ({ type: 'reasoning', text: 'hm', state: state(account) }) as const

const FROM_ANSWER = 'From your answer before:'

const loop = [user('q'), assistant(createReasoning('anthropic/1'), call('b')), tool(createNamedResult('b', '2'))]

/** The conversation that the target receives. */
const table: Record<string, [given: Turn[], expected: Turn[], target?: Input]> = {
  'results in the order of their calls': [
    [user('q'), assistant(call('a'), call('b')), tool(result('b', '2'), result('a', '1')), user('go on')],
    [
      user('q'),
      assistant(call('a'), call('b')),
      tool(createNamedResult('a', '1'), createNamedResult('b', '2')),
      user('go on'),
    ],
  ],
  'anything between a call and its result moved after the result': [
    [user('q'), assistant(call('a')), user('and'), tool(result('a', '1'))],
    [user('q'), assistant(call('a')), tool(createNamedResult('a', '1')), user('and')],
  ],
  "text after a call in the call's own turn": [
    [user('q'), assistant('so', call('a'), 'wait'), tool(result('a', '1'))],
    [user('q'), assistant('so', call('a'), 'wait'), tool(createNamedResult('a', '1'))],
  ],
  "text before a call's first result in the call's own turn": [
    [user('q'), assistant(call('a')), assistant('wait'), user('and'), assistant('so'), tool(result('a', '1'))],
    [user('q'), assistant(call('a'), 'wait', 'so'), tool(createNamedResult('a', '1')), user('and')],
  ],
  'text after a result in its original position, even if another result of the same call follows': [
    [user('q'), assistant(call('a')), tool(result('a', '1')), assistant('so'), user('and'), tool(result('a', '2'))],
    [user('q'), assistant(call('a')), tool(createNamedResult('a', '2')), assistant('so'), user('and')],
  ],
  'calls of several turns, each with its own results': [
    [user('q'), assistant(call('a')), assistant(call('b')), tool(result('a', '1'), result('b', '2'))],
    [
      user('q'),
      assistant(call('a')),
      tool(createNamedResult('a', '1')),
      assistant(call('b')),
      tool(createNamedResult('b', '2')),
    ],
  ],
  'separate IDs for two calls if an ID is reused later': [
    [
      ...[user('q'), assistant(call('a')), tool(result('a', '1')), assistant(call('b'), call('a'))],
      ...[tool(result('a', '2'), result('b', '3')), assistant(call('a')), tool(result('a', '4'))],
    ],
    [
      ...[user('q'), assistant(call('a')), tool(createNamedResult('a', '1')), assistant(call('b'), call('a_2'))],
      ...[
        tool(createNamedResult('b', '3'), createNamedResult('a_2', '2')),
        assistant(call('a_3')),
        tool(createNamedResult('a_3', '4')),
      ],
    ],
  ],
  'only the last of several results for a call': [
    [user('q'), assistant(call('a')), tool(result('a', '1'), result('a', '2'))],
    [user('q'), assistant(call('a')), tool(createNamedResult('a', '2'))],
  ],
  'a result without a call converted to text': [
    [tool(result('a', '1')), user('q')],
    [user('1'), user('q')],
  ],
  'an error result for a call that has none': [
    [user('q'), assistant(call('a'), call('b')), tool(result('a', '1')), user('?')],
    [
      user('q'),
      assistant(call('a'), call('b')),
      tool(createNamedResult('a', '1'), createMissingResult('b')),
      user('?'),
    ],
  ],
  'results of the same kind as their calls, even if only the calls specify the kind': [
    [user('q'), assistant(free('a'), call('b'), free('c')), tool(result('a', '1'), freed(result('b', '2'))), user('?')],
    [
      user('q'),
      assistant(free('a'), call('b'), free('c')),
      tool(freed(createNamedResult('a', '1')), createNamedResult('b', '2'), freed(createMissingResult('c'))),
      user('?'),
    ],
    { traits: { freeFormTools: true } },
  ],
  'open calls at the end': [
    [user('q'), assistant(call('a'))],
    [user('q'), assistant(call('a'))],
  ],
  'no empty parts': [
    [user('q'), assistant(''), user('', 'r'), user('')],
    [user('q'), user('r')],
  ],
  'IDs that the target accepts, equal in call and result': [
    [user('q'), assistant(call('toolu.01')), tool(result('toolu.01', '1'))],
    [user('q'), assistant(call('toolu_01')), tool(createNamedResult('toolu_01', '1'))],
    { traits: { toolIds: { characters: 'a-z0-9_', maxLength: 20 } } },
  ],
  'images in a result if the target supports them there': [
    [user('q'), assistant(call('a')), tool(result('a', image))],
    [user('q'), assistant(call('a')), tool({ ...result('a', image), name: 'f' })],
    { traits: { toolResultInputs: ['image'] } },
  ],
  'images moved after all results if the target does not support them in results': [
    [user('q'), assistant(call('a'), call('b')), tool(result('a', 'x', image), result('b', '2')), user('go on')],
    [
      user('q'),
      assistant(call('a'), call('b')),
      tool(createNamedResult('a', 'x', '[image: see the message after the results]'), createNamedResult('b', '2')),
      user('From the result of the tool call a:', image),
      user('go on'),
    ],
  ],
  "the assistant's images in their own turns if the target supports them there": [
    [user('q'), assistant('a', image), user('r')],
    [user('q'), assistant('a', image), user('r')],
    { traits: { assistantImages: true } },
  ],
  "the assistant's images moved to the next user text if the target does not support them in assistant turns": [
    [user('q'), assistant('a', image, 'b'), user('r')],
    [user('q'), assistant('a', 'b'), user(FROM_ANSWER, image, 'r')],
  ],
  "the assistant's images without other content": [
    [user('q'), assistant({ ...image, state: state('anthropic/1') }), assistant('b')],
    [user('q'), assistant('[image: see the next message]'), user(FROM_ANSWER, image), assistant('b')],
  ],
  "the assistant's images after the results of its calls": [
    [user('q'), assistant(image, call('a')), tool(result('a', '1')), assistant(image)],
    [
      user('q'),
      assistant(call('a')),
      tool(createNamedResult('a', '1')),
      user(FROM_ANSWER, image),
      assistant('[image: see the next message]'),
      user(FROM_ANSWER, image),
    ],
  ],
  'only reasoning by the target itself': [
    [user('q'), assistant(createReasoning('anthropic/1'), createReasoning('anthropic/2'), 'a')],
    [user('q'), assistant(createReasoning('anthropic/1'), 'a')],
  ],
  "only the current tool loop's reasoning if the target accepts nothing else": [
    [user('p'), assistant(createReasoning('anthropic/1'), 'a'), ...loop],
    [user('p'), assistant('a'), ...loop],
    { traits: { reasoning: replaying('tool-loop') } },
  ],
  'no reasoning if the target accepts none': [
    loop,
    [user('q'), assistant(call('b')), tool(createNamedResult('b', '2'))],
    { traits: { reasoning: replaying('never') } },
  ],
  'late instructions in their original position': [
    [system('s'), user('q'), system('t'), user('r')],
    [system('s'), user('q'), system('t'), user('r')],
  ],
  'late instructions as text in the next user turn if the target rejects late instructions': [
    [system('s'), user('q'), system('t'), user('r'), system('u')],
    [system('s'), user('q'), user('<system>\nt\n</system>', 'r'), user('<system>\nu\n</system>')],
    { traits: { lateSystem: false } },
  ],
  'late instructions right before the response if the target accepts them only there': [
    [user('q'), assistant('a'), system('t'), user('r'), assistant('b'), user('s'), system('u')],
    [user('q'), assistant('a'), user('r'), system('t'), assistant('b'), user('s'), system('u')],
    { traits: { lateSystem: 'before-answer' } },
  ],
  'late instructions as text if there is no user turn before the response': [
    [user('q'), assistant('a'), system('t'), assistant('b'), user('r')],
    [user('q'), assistant('a'), user('<system>\nt\n</system>'), assistant('b'), user('r')],
    { traits: { lateSystem: 'before-answer' } },
  ],
  "another provider's searches converted to text": [
    [
      user('q'),
      assistant({ type: 'server-tool', tool: 'web-search', id: 's', query: 'x', results: [{ url: 'u', title: 't' }] }),
    ],
    [user('q'), assistant('[Searched the web for: x]\n- t (u)')],
  ],
  'developer messages as system messages if the target does not support that role': [
    [system('s', 'developer'), user('q')],
    [system('s'), user('q')],
    { traits: { developerRole: false } },
  ],
  'a request to continue if the target cannot continue a response': [
    [user('q'), assistant('a')],
    [user('q'), assistant('a'), user('(continue)')],
    { traits: { prefill: false } },
  ],
  'the last cache breakpoints if there are too many': [
    [user({ ...text('a'), cache: {} }, { ...text('b'), cache: {} }), user({ ...text('c'), cache: {} })],
    [user('a', { ...text('b'), cache: {} }), user({ ...text('c'), cache: {} })],
    { traits: { cacheBreakpoints: 'cache_control', maxCacheBreakpoints: 2 } },
  ],
  "no cache breakpoints if the target doesn't support them": [[user({ ...text('a'), cache: {} })], [user('a')]],
}

function replaying(replay: 'never' | 'tool-loop' | 'always') {
  return { ...BASE, replay }
}

const test = suite('a conversation prepared for a target')

for (const [name, [turns, expected, target]] of Object.entries(table)) {
  test(`a prepared conversation has ${name}`, () => assert.equal(prepare({ turns }, target).request.turns, expected))
}

test('changes to a conversation are reported, and rejected in strict mode', () => {
  const orphan = { turns: [tool(result('a', '1')), user('q')] }
  assert.equal(prepare(orphan).warnings, ['replaced:turns'])
  assert.throws(() => prepare(orphan, { isStrict: true }), /strict mode/)
})

test("inputs that the target doesn't support are rejected", () => {
  const source = { type: 'url', url: 'https://a/b.png' } as const
  assert.throws(() => prepare({ turns: [user(image)] }, { traits: { inputs: [] } }), /does not support images\./)
  assert.throws(
    () => prepare({ turns: [user({ type: 'image', source })] }, { traits: { inputs: ['image'] } }),
    /images by URL/,
  )
  const foreign = { type: 'file', source: { type: 'file-id', id: 'file-1', format: 'openai-chat' } } as const
  assert.throws(() => prepare({ turns: [user(foreign)] }), /a file ID is only valid with its own vendor/)
})

test('preparation does not modify the client’s request', () => {
  const turns = [user('q'), assistant(call('a.b')), tool(result('a.b', '1')), user('')]
  const before = structuredClone(turns)
  prepare({ turns }, { traits: { toolIds: { characters: 'a-z', maxLength: 9, isExact: true } } })
  assert.equal(turns, before)
})

test('many results without calls take linear time', () => {
  const turns = Array.from({ length: 20_000 }, (_, index) => tool(result(`a${index}`, '1')))
  const before = busyMs()
  prepare({ turns })
  assert.ok(busyMs() - before < 10_000)
})
