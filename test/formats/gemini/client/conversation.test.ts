import { encodeUtf8, toBase64, toBase64Url } from '../../../../src/lib/bytes.ts'
import { sealState } from '../../../../src/protocols/formats/canonical/canonical-state.ts'
import type { Turn } from '../../../../src/protocols/formats/canonical/canonical-turns.ts'
import { assert, suite } from '../../../support/suite.ts'
import { parse, QUESTION } from '../support/parse-request.ts'

const getTurns = (...contents: object[]): Turn[] => parse({ contents }).turns
const user = (...parts: object[]) => ({ role: 'user', parts })
const model = (...parts: object[]) => ({ role: 'model', parts })

const turns = suite('Gemini request contents')

turns('system instructions become a turn with one text block per part', () => {
  const expected = [
    {
      role: 'system',
      sentAs: 'instructions',
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    },
  ]
  assert.equal(parse({ system_instruction: { parts: [{ text: 'a' }, { text: 'b' }] } }).turns.slice(0, 1), expected)
  assert.equal(parse({ systemInstruction: { parts: { text: 'a' } } }).turns[0], {
    ...{ role: 'system', sentAs: 'instructions', content: [{ type: 'text', text: 'a' }] },
  })
})

turns('consecutive model parts become one turn, and adjacent text fragments are joined', () => {
  assert.equal(
    getTurns(
      QUESTION,
      model({ text: 'a' }),
      model({ text: 'b' }, { text: '' }),
      model({ text: 'c', thoughtSignature: 'c2ln' }),
      model({ text: 'd' }),
    ),
    [
      { role: 'user', content: [{ type: 'text', text: 'q' }] },
      {
        role: 'assistant',
        content: [
          {
            type: 'text',
            text: 'abc',
            state: { origin: { format: 'gemini', account: '' }, kind: 'thought-signature', data: 'c2ln' },
          },
          { type: 'text', text: 'd' },
        ],
      },
    ],
  )
})

turns('calls and results without IDs are paired by name and order', () => {
  const call = (name: string, args: object) => ({ functionCall: { name, args } })
  const result = (name: string, output: string) => ({ functionResponse: { name, response: { output } } })
  const [, calls, results, extra] = getTurns(
    QUESTION,
    model(call('f', { a: 1 }), call('g', {}), call('f', { a: 2 })),
    user(result('f', 'one'), { text: 'and' }, result('g', 'two'), result('f', 'three')),
  )
  assert.equal(calls, {
    role: 'assistant',
    content: [
      { type: 'tool-call', id: 'call_0', name: 'f', arguments: '{"a":1}' },
      { type: 'tool-call', id: 'call_1', name: 'g', arguments: '{}' },
      { type: 'tool-call', id: 'call_2', name: 'f', arguments: '{"a":2}' },
    ],
  })
  const text = (text: string) => [{ type: 'text', text }]
  assert.equal(results, {
    role: 'tool',
    results: [
      { callId: 'call_0', name: 'f', content: text('one') },
      { callId: 'call_1', name: 'g', content: text('two') },
      { callId: 'call_2', name: 'f', content: text('three') },
    ],
  })
  assert.equal(extra, { role: 'user', content: text('and') })
})

turns("a result gets its call's ID, and its call's name if its own is missing", () => {
  const actual = getTurns(
    QUESTION,
    model({ functionCall: { name: 'f' } }, { functionCall: { id: 'b', name: 'g' } }),
    user({ functionResponse: { id: 'x', name: 'f', response: {} } }, { functionResponse: { id: 'b', response: {} } }),
  )
  assert.equal(actual[2], {
    role: 'tool',
    results: [
      { callId: 'call_0', name: 'f', content: [] },
      { callId: 'b', name: 'g', content: [] },
    ],
  })
})

turns('a call in fragments is assembled, however the client sends the fragments', () => {
  const piece = (jsonPath: string, value: object) => ({ jsonPath, ...value })
  const actual = getTurns(
    QUESTION,
    model({ functionCall: { name: 'f', willContinue: true }, thoughtSignature: 'c2ln' }),
    model({
      functionCall: { partialArgs: [piece('$.a', { stringValue: 'x', willContinue: true })], willContinue: true },
    }),
    model({ functionCall: { partial_args: [{ json_path: '$.a', string_value: 'y' }], will_continue: true } }),
    model({ functionCall: {} }),
    user({ functionResponse: { name: 'f', response: { output: 1 } } }),
  )
  assert.is(actual.length, 3)
  const [call] = actual[1]?.role === 'assistant' ? actual[1].content : []
  assert.is(call?.type === 'tool-call' ? call.arguments : undefined, '{"a":"xy"}')
  assert.is(call?.type === 'tool-call' ? call.state?.data : undefined, 'c2ln')
})

turns("the result of a function that ran at Google stays between the model's text parts", () => {
  const actual = getTurns(
    QUESTION,
    model(
      { functionCall: { name: 'f' } },
      { functionResponse: { name: 'f', response: { result: 'r' } } },
      { text: 'a' },
    ),
  )
  assert.equal(
    actual.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'assistant'],
  )
})

turns('code that Google ran becomes text, but other payloads are dropped', () => {
  const code = { executableCode: { language: 'PYTHON', code: 'print(1)' } }
  const ran = { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } }
  const actual = getTurns(
    QUESTION,
    model(code, ran, { toolCall: { toolType: 'GOOGLE_SEARCH_WEB' }, thoughtSignature: 'c2ln' }),
  )
  assert.equal(actual[1], {
    role: 'assistant',
    content: [{ type: 'text', text: '```python\nprint(1)\n```\n```\n1\n```\n' }],
  })
})

const results = suite('function results in a Gemini request')

for (const [name, response, content, isError] of [
  ['output', { output: 'a' }, 'a', undefined],
  ['result', { result: 'a' }, 'a', undefined],
  ['an error', { error: 'a' }, 'a', true],
  ['a value', { output: [1, 2] }, '[1,2]', undefined],
  ['a custom object', { a_b: 1, output: 2 }, '{"a_b":1,"output":2}', undefined],
  ['nothing', {}, undefined, undefined],
] as [string, object, string | undefined, true | undefined][])
  results(`parses ${name}`, () => {
    const actual = getTurns(
      QUESTION,
      model({ functionCall: { id: 'c', name: 'f' } }),
      user({ functionResponse: { id: 'c', name: 'f', response } }),
    )
    const result = { callId: 'c', name: 'f', content: content === undefined ? [] : [{ type: 'text', text: content }] }
    assert.equal(actual[2], { role: 'tool', results: [isError ? { ...result, isError } : result] })
  })

results("a function result's media parts become its content", () => {
  const parts = [{ inline_data: { mime_type: 'application/pdf', data: 'JVBERi0=', display_name: 'a.pdf' } }]
  const actual = getTurns(QUESTION, user({ function_response: { name: 'f', response: {}, parts } }))
  assert.equal(actual[1], {
    role: 'tool',
    results: [
      {
        callId: 'call_0',
        name: 'f',
        content: [
          { type: 'file', source: { type: 'base64', mediaType: 'application/pdf', data: 'JVBERi0=' }, name: 'a.pdf' },
        ],
      },
    ],
  })
})

const PNG = 'iVBORw0KGgoAAAAN'

const signatures = suite('Gemini client thought signatures')

const sealed = { origin: { format: 'anthropic-messages', account: 'v/1' }, kind: 'signature', data: 'ünï+/=' } as const

function getState(part: object) {
  const [, turn] = getTurns(QUESTION, model(part))
  const [first] = turn?.role === 'assistant' ? turn.content : []
  return first && 'state' in first ? first.state : undefined
}

signatures('encrypted signatures are decoded from either base64 alphabet', () => {
  const bytes = encodeUtf8(sealState(sealed))
  for (const thoughtSignature of [toBase64(bytes), toBase64Url(bytes)]) {
    assert.equal(getState({ text: 'hm', thought: true, thoughtSignature }), sealed)
    assert.equal(getState({ functionCall: { name: 'f' }, thoughtSignature }), sealed)
    assert.equal(getState({ text: '', thoughtSignature }), sealed)
    assert.equal(getState({ inlineData: { mimeType: 'image/png', data: PNG }, thoughtSignature }), sealed)
  }
})

signatures("Google's thought signatures stay unchanged, with an unknown account as their origin", () => {
  const bare = { origin: { format: 'gemini', account: '' }, kind: 'thought-signature', data: 'EpYSCpMS_-==' }
  assert.equal(getState({ functionCall: { name: 'f' }, thought_signature: 'EpYSCpMS_-==' }), bare)
})

signatures('placeholder signatures are ignored', () => {
  for (const thoughtSignature of ['skip_thought_signature_validator', 'c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I='])
    assert.is(getState({ functionCall: { name: 'f' }, thoughtSignature }), undefined)
})
