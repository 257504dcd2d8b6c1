import { sealState } from '../../../../src/formats/canonical/state.ts'
import type { Turn } from '../../../../src/formats/canonical/turns.ts'
import { encodeUtf8, toBase64, toBase64Url } from '../../../../src/lib/bytes.ts'
import { assert, suite } from '../../../support/suite.ts'
import { parse, QUESTION } from '../support/parse-request.ts'

const turnsOf = (...contents: object[]): Turn[] => parse({ contents }).turns
const user = (...parts: object[]) => ({ role: 'user', parts })
const model = (...parts: object[]) => ({ role: 'model', parts })

const turns = suite('contents of a Gemini request')

turns('system instructions are a turn with one text for each part', () => {
  const expected = [
    {
      role: 'system',
      as: 'instructions',
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    },
  ]
  assert.equal(parse({ system_instruction: { parts: [{ text: 'a' }, { text: 'b' }] } }).turns.slice(0, 1), expected)
  assert.equal(parse({ systemInstruction: { parts: { text: 'a' } } }).turns[0], {
    ...{ role: 'system', as: 'instructions', content: [{ type: 'text', text: 'a' }] },
  })
})

turns('consecutive parts of the model are one turn, and small texts one text', () => {
  assert.equal(
    turnsOf(
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

turns('calls and results without ids are paired by name and order', () => {
  const call = (name: string, args: object) => ({ functionCall: { name, args } })
  const result = (name: string, output: string) => ({ functionResponse: { name, response: { output } } })
  const [, calls, results, more] = turnsOf(
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
  const text = (words: string) => [{ type: 'text', text: words }]
  assert.equal(results, {
    role: 'tool',
    results: [
      { callId: 'call_0', name: 'f', content: text('one') },
      { callId: 'call_1', name: 'g', content: text('two') },
      { callId: 'call_2', name: 'f', content: text('three') },
    ],
  })
  assert.equal(more, { role: 'user', content: text('and') })
})

turns('an id that only the result has is replaced by that of its call; a missing name is looked up', () => {
  const told = turnsOf(
    QUESTION,
    model({ functionCall: { name: 'f' } }, { functionCall: { id: 'b', name: 'g' } }),
    user({ functionResponse: { id: 'x', name: 'f', response: {} } }, { functionResponse: { id: 'b', response: {} } }),
  )
  assert.equal(told[2], {
    role: 'tool',
    results: [
      { callId: 'call_0', name: 'f', content: [] },
      { callId: 'b', name: 'g', content: [] },
    ],
  })
})

turns('a call in pieces is assembled, however the pieces are returned', () => {
  const piece = (jsonPath: string, value: object) => ({ jsonPath, ...value })
  const told = turnsOf(
    QUESTION,
    model({ functionCall: { name: 'f', willContinue: true }, thoughtSignature: 'c2ln' }),
    model({
      functionCall: { partialArgs: [piece('$.a', { stringValue: 'x', willContinue: true })], willContinue: true },
    }),
    model({ functionCall: { partial_args: [{ json_path: '$.a', string_value: 'y' }], will_continue: true } }),
    model({ functionCall: {} }),
    user({ functionResponse: { name: 'f', response: { output: 1 } } }),
  )
  assert.is(told.length, 3)
  const [call] = told[1]?.role === 'assistant' ? told[1].content : []
  assert.is(call?.type === 'tool-call' ? call.arguments : undefined, '{"a":"xy"}')
  assert.is(call?.type === 'tool-call' ? call.state?.data : undefined, 'c2ln')
})

turns('the result of a function that ran at Google stays between the texts of the model', () => {
  const told = turnsOf(
    QUESTION,
    model(
      { functionCall: { name: 'f' } },
      { functionResponse: { name: 'f', response: { result: 'r' } } },
      { text: 'a' },
    ),
  )
  assert.equal(
    told.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'assistant'],
  )
})

turns('code that ran at Google becomes text, other payloads do not', () => {
  const code = { executableCode: { language: 'PYTHON', code: 'print(1)' } }
  const ran = { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } }
  const told = turnsOf(
    QUESTION,
    model(code, ran, { toolCall: { toolType: 'GOOGLE_SEARCH_WEB' }, thoughtSignature: 'c2ln' }),
  )
  assert.equal(told[1], {
    role: 'assistant',
    content: [{ type: 'text', text: '```python\nprint(1)\n```\n```\n1\n```\n' }],
  })
})

const results = suite('results of functions in a Gemini request')

for (const [name, response, content, isError] of [
  ['output', { output: 'a' }, 'a', undefined],
  ['result', { result: 'a' }, 'a', undefined],
  ['an error', { error: 'a' }, 'a', true],
  ['a value', { output: [1, 2] }, '[1,2]', undefined],
  ['an object of its own', { a_b: 1, output: 2 }, '{"a_b":1,"output":2}', undefined],
  ['nothing', {}, undefined, undefined],
] as [string, object, string | undefined, true | undefined][])
  results(`a function result is parsed: ${name}`, () => {
    const told = turnsOf(
      QUESTION,
      model({ functionCall: { id: 'c', name: 'f' } }),
      user({ functionResponse: { id: 'c', name: 'f', response } }),
    )
    const result = { callId: 'c', name: 'f', content: content === undefined ? [] : [{ type: 'text', text: content }] }
    assert.equal(told[2], { role: 'tool', results: [isError ? { ...result, isError } : result] })
  })

results('a function result has media in parts of their own', () => {
  const parts = [{ inline_data: { mime_type: 'application/pdf', data: 'JVBERi0=', display_name: 'a.pdf' } }]
  const told = turnsOf(QUESTION, user({ function_response: { name: 'f', response: {}, parts } }))
  assert.equal(told[1], {
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

const signatures = suite('thought signatures of a Gemini client')

const sealed = { origin: { format: 'anthropic-messages', account: 'v/1' }, kind: 'signature', data: 'ünï+/=' } as const

function stateOf(part: object) {
  const [, turn] = turnsOf(QUESTION, model(part))
  const [first] = turn?.role === 'assistant' ? turn.content : []
  return first && 'state' in first ? first.state : undefined
}

signatures('sealed signatures come back whole, in either alphabet of base64', () => {
  const bytes = encodeUtf8(sealState(sealed))
  for (const thoughtSignature of [toBase64(bytes), toBase64Url(bytes)]) {
    assert.equal(stateOf({ text: 'hm', thought: true, thoughtSignature }), sealed)
    assert.equal(stateOf({ functionCall: { name: 'f' }, thoughtSignature }), sealed)
    assert.equal(stateOf({ text: '', thoughtSignature }), sealed)
    assert.equal(stateOf({ inlineData: { mimeType: 'image/png', data: PNG }, thoughtSignature }), sealed)
  }
})

signatures('thought signatures of Google stay unchanged, with an unknown account as their origin', () => {
  const bare = { origin: { format: 'gemini', account: '' }, kind: 'thought-signature', data: 'EpYSCpMS_-==' }
  assert.equal(stateOf({ functionCall: { name: 'f' }, thought_signature: 'EpYSCpMS_-==' }), bare)
})

signatures('placeholder signatures are ignored', () => {
  for (const thoughtSignature of ['skip_thought_signature_validator', 'c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I='])
    assert.is(stateOf({ functionCall: { name: 'f' }, thoughtSignature }), undefined)
})
