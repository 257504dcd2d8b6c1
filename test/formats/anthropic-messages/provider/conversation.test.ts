import type { JsonObject } from '../../../../src/lib/json.ts'
import { anthropicTranslator } from '../../../../src/protocols/formats/anthropic-messages/anthropic-translator.ts'
import type { AssistantPart, UserPart } from '../../../../src/protocols/formats/canonical/canonical-parts.ts'
import type { CanonicalRequest } from '../../../../src/protocols/formats/canonical/canonical-request.ts'
import type { Turn } from '../../../../src/protocols/formats/canonical/canonical-turns.ts'
import type { Traits } from '../../../../src/traits.ts'
import { assert, suite } from '../../../support/suite.ts'
import { contexts } from '../../support/contexts.ts'

const text = (value: string) => ({ type: 'text', text: value }) as const
const user = (...content: UserPart[]): Turn => ({ role: 'user', content })
const assistant = (...content: AssistantPart[]): Turn => ({ role: 'assistant', content })
const getResults = (...ids: string[]): Turn => ({
  role: 'tool',
  results: ids.map((callId) => ({ callId, content: [text('r')] })),
})
const call = (id: string, value = '{"x":1}'): AssistantPart => ({ type: 'tool-call', id, name: 'f', arguments: value })
const EMPTY: CanonicalRequest = {
  ...{ model: 'm', stream: false, streamUsage: true, tools: [], options: {} },
  turns: [user(text('q'))],
}

function write(request: Partial<CanonicalRequest>, traits: Partial<Traits> = {}) {
  const { target, warnings } = contexts(anthropicTranslator, { traits })
  const { path, headers, body } = anthropicTranslator.writeRequest({ ...EMPTY, ...request }, target)
  return { path, headers, body, warnings: warnings.list() }
}

const turns = suite('turns for a Messages provider')

const use = (id: string, input: object = { x: 1 }) => ({ type: 'tool_use', id, name: 'f', input })
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: [text('r')] })
const first = { role: 'user', content: [text('q')] }

const conversations: Record<string, [turns: Turn[], system: unknown, messages: unknown]> = {
  'instructions before the first turn become system blocks': [
    [
      { role: 'system', sentAs: 'instructions', content: [text('a')] },
      { role: 'system', sentAs: 'developer', content: [text('b'), text(' ')] },
      user(text('q')),
    ],
    [text('a'), text('b')],
    [first],
  ],
  'later instructions keep their position': [
    [user(text('q')), { role: 'system', sentAs: 'system', content: [text('s')] }],
    undefined,
    [first, { role: 'system', content: [text('s')] }],
  ],
  "a turn's tool results become one message, followed by the user’s text": [
    [user(text('q')), assistant(call('a'), call('b')), getResults('a', 'b'), user(text('so?'))],
    undefined,
    [
      first,
      { role: 'assistant', content: [use('a'), use('b')] },
      { role: 'user', content: [result('a'), result('b'), text('so?')] },
    ],
  ],
  'consecutive turns with the same role become one message': [
    [user(text('q')), user(text('r')), assistant(text('a')), assistant(text('b')), user(text('c'))],
    undefined,
    [
      { role: 'user', content: [text('q'), text('r')] },
      { role: 'assistant', content: [text('a'), text('b')] },
      { role: 'user', content: [text('c')] },
    ],
  ],
  'blank texts, and turns with nothing but blank texts, are omitted': [
    [user(text('q')), assistant(text(' \n')), user(text(''), text('r'))],
    undefined,
    [{ role: 'user', content: [text('q'), text('r')] }],
  ],
  'a response to continue loses its trailing whitespace': [
    [user(text('q')), assistant(text('a \n'))],
    undefined,
    [first, { role: 'assistant', content: [text('a')] }],
  ],
  'the conversation always starts with a user turn': [
    [assistant(text('a')), user(text('q'))],
    undefined,
    [{ role: 'user', content: [text('(continue)')] }, { role: 'assistant', content: [text('a')] }, first],
  ],
  'arguments become an object without losing any': [
    [user(text('q')), assistant(call('a', ''), call('b', '{"path":"/tm')), getResults('a', 'b')],
    undefined,
    [
      first,
      { role: 'assistant', content: [use('a', {}), use('b', { _raw: '{"path":"/tm' })] },
      { role: 'user', content: [result('a'), result('b')] },
    ],
  ],
}

for (const [name, [input, system, messages]] of Object.entries(conversations)) {
  turns(name, () => {
    const { body } = write({ turns: input })
    assert.equal(body.system, system)
    assert.equal(body.messages, messages)
  })
}

turns('an added turn and a dropped participant name cause warnings', () => {
  assert.equal(write({ turns: [assistant(text('a'))] }).warnings, ['added:messages'])
  assert.equal(write({ turns: [{ role: 'user', content: [text('q')], name: 'Ann' }] }).warnings, [
    'dropped:messages.name',
  ])
})

const state = (kind: 'signature' | 'redacted' | 'encrypted', data: string) =>
  ({ origin: { format: 'anthropic-messages', account: 'a' }, kind, data }) as const

const history: Record<string, [part: AssistantPart, blocks: JsonObject[]]> = {
  'signed reasoning, unchanged': [
    { type: 'reasoning', text: 'hm', state: state('signature', 's') },
    [{ type: 'thinking', thinking: 'hm', signature: 's' }],
  ],
  'a signature without reasoning text': [
    { type: 'reasoning', text: '', state: state('signature', 's') },
    [{ type: 'thinking', thinking: '', signature: 's' }],
  ],
  'redacted reasoning': [
    { type: 'reasoning', text: '', state: state('redacted', 'r') },
    [{ type: 'redacted_thinking', data: 'r' }],
  ],
  "other vendors' reasoning": [{ type: 'reasoning', text: 'hm', state: state('encrypted', 'e') }, []],
  'a refusal as text': [{ type: 'refusal', text: 'no' }, [text('no')]],
  'the transcript of audio': [
    { type: 'audio', source: { type: 'base64', mediaType: 'audio/wav', data: 'AA' }, transcript: 'hi' },
    [text('hi')],
  ],
}

for (const [name, [part, blocks]] of Object.entries(history)) {
  turns(`writes an earlier response with ${name}`, () => {
    const { messages } = write({ turns: [user(text('q')), assistant(part, text('.')), user(text('q'))] }).body
    assert.equal(Object(messages)[1].content, [...blocks, text('.')])
  })
}

const parts = suite('user content for a Messages provider')

const PNG = { type: 'base64', mediaType: 'image/png', data: 'AA==' } as const
const mark = { cache_control: { type: 'ephemeral', ttl: '1h' } }
const content: Record<string, [part: UserPart, block: JsonObject]> = {
  'a base64 image': [
    { type: 'image', source: PNG, cache: { ttl: '1h' } },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' }, ...mark },
  ],
  'an image URL': [
    { type: 'image', source: { type: 'url', url: 'https://a' } },
    { type: 'image', source: { type: 'url', url: 'https://a' } },
  ],
  'a file stored by Anthropic': [
    { type: 'file', source: { type: 'file-id', id: 'file_1', format: 'anthropic-messages' } },
    { type: 'document', source: { type: 'file', file_id: 'file_1' } },
  ],
  'a PDF with all its fields': [
    {
      ...{ type: 'file', source: { type: 'base64', mediaType: 'application/pdf', data: 'AA==' } },
      ...{ name: 't', context: 'c', citable: true },
    },
    {
      ...{ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'AA==' } },
      ...{ title: 't', context: 'c', citations: { enabled: true } },
    },
  ],
  'a base64 text file': [
    { type: 'file', source: { type: 'base64', mediaType: 'text/markdown', data: 'aMOp' } },
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'hé' } },
  ],
  'a search result': [
    { type: 'search-result', source: 'https://a', title: 'A', content: [text('x')], citable: true },
    { type: 'search_result', source: 'https://a', title: 'A', content: [text('x')], citations: { enabled: true } },
  ],
}

for (const [name, [part, block]] of Object.entries(content)) {
  parts(`writes user content with ${name}`, () => {
    const { messages } = write({ turns: [user(part)] }).body
    assert.equal(messages, [{ role: 'user', content: [block] }])
  })
}

for (const [type, source] of [
  ['image', { ...PNG, mediaType: 'image/tiff' }],
  ['file', { ...PNG, mediaType: 'application/zip' }],
  ['file', { ...PNG, mediaType: 'text/plain', data: '/w==' }],
] as const) {
  parts(`rejects the media type ${source.mediaType} for a part of type ${type}`, () => {
    assert.throws(() => write({ turns: [user({ type, source })] }), /the target (?:only supports|does not support)/)
  })
}

parts('a tool result marks errors, and omits the content field if it is empty', () => {
  const { messages } = write({
    turns: [
      user(text('q')),
      assistant(call('a')),
      { role: 'tool', results: [{ callId: 'a', content: [], isError: true }] },
    ],
  }).body
  assert.equal(Object(messages)[2].content, [{ type: 'tool_result', tool_use_id: 'a', is_error: true }])
})
