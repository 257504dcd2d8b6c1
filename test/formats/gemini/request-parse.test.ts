import type { CanonicalRequest } from '../../../src/formats/canonical/request.ts'
import { sealState } from '../../../src/formats/canonical/state.ts'
import type { Turn } from '../../../src/formats/canonical/turns.ts'
import { geminiTranslator } from '../../../src/formats/gemini/translator.ts'
import type { ParseContext } from '../../../src/formats/translator.ts'
import { encodeUtf8 } from '../../../src/lib/bytes.ts'
import { toBase64, toBase64Url } from '../../../src/lib/encoding.ts'
import type { JsonObject } from '../../../src/lib/json.ts'
import { assert, suite } from '../../support/suite.ts'
import { contexts } from '../support/contexts.ts'

const QUESTION = { role: 'user', parts: [{ text: 'q' }] }

function parse(
  body: JsonObject,
  { isStrict = false, route }: { isStrict?: boolean; route?: ParseContext['route'] } = {},
) {
  const { warnings } = contexts(geminiTranslator, { isStrict })
  const request = geminiTranslator.parseRequest(
    { contents: [QUESTION], ...body },
    { warnings, route: route ?? { model: 'm', stream: false } },
  )
  return { ...request, warnings: warnings.list() }
}

const turnsOf = (...contents: object[]): Turn[] => parse({ contents }).turns
const user = (...parts: object[]) => ({ role: 'user', parts })
const model = (...parts: object[]) => ({ role: 'model', parts })
const config = (generationConfig: object) => parse({ generationConfig })

const options = suite('options of a Gemini request')

const table: Record<string, [body: JsonObject, expected: CanonicalRequest['options']]> = {
  'sampling and limits': [
    { generationConfig: { temperature: 0, topP: 0.5, topK: 4, maxOutputTokens: 9, seed: 7, stopSequences: ['a'] } },
    { temperature: 0, topP: 0.5, topK: 4, maxOutputTokens: 9, seed: 7, stop: ['a'] },
  ],
  'snake_case, which REST takes as well': [
    { generation_config: { max_output_tokens: 9, stop_sequences: ['a'], thinking_config: { thinking_budget: 512 } } },
    { maxOutputTokens: 9, stop: ['a'], reasoning: { budget: 512 } },
  ],
  'penalties and candidates': [
    { generationConfig: { presencePenalty: 1, frequencyPenalty: -1, candidateCount: 2 } },
    { presencePenalty: 1, frequencyPenalty: -1, candidates: 2 },
  ],
  'logprobs, and their number without them': [
    { generationConfig: { responseLogprobs: true, logprobs: 3 } },
    { logprobs: 3 },
  ],
  'logprobs that are not asked for': [{ generationConfig: { logprobs: 3 } }, {}],
  modalities: [{ generationConfig: { responseModalities: ['TEXT', 'IMAGE'] } }, { modalities: ['text', 'image'] }],
  'a voice': [
    { generationConfig: { speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } } } },
    { speech: { voice: 'Kore' } },
  ],
  'thinking that is off': [
    { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } },
    { reasoning: { effort: 'none' } },
  ],
  'thinking that is left to the model': [
    { generationConfig: { thinkingConfig: { thinkingBudget: -1, includeThoughts: true } } },
    { reasoning: { budget: 'auto', show: 'summary' } },
  ],
  'a level in any case, thoughts hidden': [
    { generationConfig: { thinkingConfig: { thinkingLevel: 'low', includeThoughts: false } } },
    { reasoning: { effort: 'low', show: 'none' } },
  ],
  'labels, tier and store': [
    { labels: { team_name: 'b' }, serviceTier: 'standard', store: false },
    { labels: { team_name: 'b' }, serviceTier: 'default', store: false },
  ],
}

for (const [name, [body, expected]] of Object.entries(table)) {
  options(`are understood: ${name}`, () => {
    const { options: understood, warnings } = parse(body)
    assert.equal(understood, expected)
    assert.equal(warnings, [])
  })
}

options('that nobody else has are told of by their path, and refused in strict mode', () => {
  const body = { safetySettings: [], generationConfig: { enableEnhancedCivicAnswers: true, seed: 1 }, serviceTier: 'x' }
  assert.equal(parse(body).warnings, [
    'dropped:serviceTier',
    'dropped:generationConfig.enableEnhancedCivicAnswers',
    'dropped:safetySettings',
  ])
  assert.throws(() => parse(body, { isStrict: true }), /it would be dropped/)
})

for (const [what, body, message] of [
  ['what is cached at Google', { cachedContent: 'cachedContents/1' }, /"cachedContent"/],
  ['an answer to be continued', { continuationToken: 'x' }, /"continuationToken"/],
  ['several speakers', { generationConfig: { speechConfig: { multiSpeakerVoiceConfig: {} } } }, /speechConfig/],
  ['a wrong type', { generationConfig: { temperature: 'hot' } }, /"generationConfig.temperature": must be a number/],
  [
    'another media type',
    { generationConfig: { responseMimeType: 'text/x.enum' } },
    /"generationConfig.responseMimeType"/,
  ],
  ['a film as the answer', { generationConfig: { responseModalities: ['VIDEO'] } }, /responseModalities/],
  ['no contents', { contents: [] }, /"contents": is required/],
  ['a role that there is not', { contents: [{ role: 'system', parts: [] }] }, /"contents\[0\]\.role"/],
  ['a part of no kind', { contents: [user({}, { videoMetadata: {} })] }, /"contents\[0\]\.parts\[0\]".*"empty"/],
  ['an image as instructions', { systemInstruction: { parts: [{ inlineData: {} }] } }, /systemInstruction.parts\[0\]/],
  [
    'code that Google would run',
    { tools: [{ functionDeclarations: [] }, { code_execution: {} }] },
    /"tools\[1\].codeExecution"/,
  ],
  [
    'a function without a name',
    { tools: [{ functionDeclarations: [{}] }] },
    /functionDeclarations\[0\].name": is required/,
  ],
] as [string, JsonObject, RegExp][])
  options(`are refused by their path: ${what}`, () => assert.throws(() => parse(body), message))

options('model, streaming and the form of the stream come from the path', () => {
  const {
    model: name,
    stream,
    streamUsage,
    client,
  } = parse({ model: 'models/other' }, { route: { model: 'm', stream: true, isArray: true } })
  assert.equal([name, stream, streamUsage, client], ['m', true, true, { isArray: true }])
})

const output = suite('the form of a Gemini answer')

const schema = { type: 'object', properties: { a_b: { type: 'string' } } }

for (const [name, generationConfig, expected] of [
  ['text', { responseMimeType: 'text/plain' }, undefined],
  ['JSON', { responseMimeType: 'application/json' }, { type: 'json' }],
  [
    'JSON Schema',
    { responseMimeType: 'application/json', responseJsonSchema: schema },
    { type: 'json-schema', schema },
  ],
  [
    'its first name',
    { responseMimeType: 'application/json', _responseJsonSchema: schema },
    { type: 'json-schema', schema },
  ],
  [
    "Google's own schema",
    {
      response_mime_type: 'application/json',
      response_schema: { type: 'OBJECT', properties: { a_b: { type: 'STRING' } } },
    },
    { type: 'json-schema', schema },
  ],
] as [string, object, CanonicalRequest['output']][])
  output(`is understood: ${name}`, () => assert.equal(config(generationConfig).output, expected))

const turns = suite('contents of a Gemini request')

turns('instructions are a turn of one text for each part', () => {
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

turns('parts of the model that follow each other are one turn, and small texts one text', () => {
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

turns('calls and results without ids find each other by name and order', () => {
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

turns('an id that only the result has is that of its call; a name that it lacks is looked up', () => {
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

turns('a call that came in pieces is put together, however the pieces come back', () => {
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

turns('a function that ran at Google has its result between the words of the model', () => {
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

turns('what ran at Google is told in words, and its payloads are not', () => {
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
  results(`are read: ${name}`, () => {
    const told = turnsOf(
      QUESTION,
      model({ functionCall: { id: 'c', name: 'f' } }),
      user({ functionResponse: { id: 'c', name: 'f', response } }),
    )
    const result = { callId: 'c', name: 'f', content: content === undefined ? [] : [{ type: 'text', text: content }] }
    assert.equal(told[2], { role: 'tool', results: [isError ? { ...result, isError } : result] })
  })

results('hold media in parts of their own', () => {
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

const media = suite('media in a Gemini request')

const PNG = 'iVBORw0KGgoAAAAN'
const base64 = (mediaType: string, data: string) => ({ type: 'base64', mediaType, data })

for (const [name, part, expected] of [
  [
    'an image',
    { inlineData: { mimeType: 'image/png', data: PNG } },
    { type: 'image', source: base64('image/png', PNG) },
  ],
  [
    'bytes that are another type',
    { inlineData: { mimeType: 'image/jpeg', data: PNG } },
    { type: 'image', source: base64('image/png', PNG) },
  ],
  [
    'sound',
    { inlineData: { mimeType: 'audio/wav', data: 'UklG' } },
    { type: 'audio', source: base64('audio/wav', 'UklG') },
  ],
  [
    'a clip of a film',
    { inlineData: { mimeType: 'video/mp4', data: 'AAAA' }, videoMetadata: { fps: 2, startOffset: '1.5s' } },
    { type: 'video', source: base64('video/mp4', 'AAAA'), fps: 2, startOffset: '1.5s' },
  ],
  [
    'a text in URL-safe base64',
    { inlineData: { mimeType: 'text/plain', data: toBase64Url(encodeUtf8('ÿþ?')) } },
    { type: 'file', source: { type: 'text', mediaType: 'text/plain', text: 'ÿþ?' } },
  ],
  [
    'an address',
    { fileData: { fileUri: 'https://example.com/a.png?x=1' } },
    { type: 'image', source: { type: 'url', url: 'https://example.com/a.png?x=1' } },
  ],
  [
    'a film by its address',
    { fileData: { fileUri: 'https://youtu.be/abc' } },
    { type: 'video', source: { type: 'url', url: 'https://youtu.be/abc' } },
  ],
  [
    'a file at Google',
    {
      file_data: { file_uri: 'https://generativelanguage.googleapis.com/v1beta/files/x', mime_type: 'application/pdf' },
    },
    {
      type: 'file',
      source: {
        type: 'file-id',
        id: 'https://generativelanguage.googleapis.com/v1beta/files/x',
        format: 'gemini',
        mediaType: 'application/pdf',
      },
    },
  ],
  [
    'a file in a bucket',
    { fileData: { fileUri: 'gs://bucket/a.wav', mimeType: 'audio/wav' } },
    { type: 'audio', source: { type: 'file-id', id: 'gs://bucket/a.wav', format: 'gemini', mediaType: 'audio/wav' } },
  ],
  [
    'an image to be looked at closely',
    { inlineData: { mimeType: 'image/png', data: PNG }, mediaResolution: { level: 'MEDIA_RESOLUTION_HIGH' } },
    { type: 'image', source: base64('image/png', PNG), detail: 'high' },
  ],
] as [string, object, object][])
  media(`are read: ${name}`, () => assert.equal(turnsOf(user(part))[0], { role: 'user', content: [expected] }))

media('the resolution of all of them is that of each image', () => {
  const { turns: told } = parse({
    contents: [user({ inlineData: { mimeType: 'image/png', data: PNG } })],
    generationConfig: { mediaResolution: 'MEDIA_RESOLUTION_LOW' },
  })
  assert.equal(told[0], { role: 'user', content: [{ type: 'image', source: base64('image/png', PNG), detail: 'low' }] })
})

const signatures = suite('thought signatures of a Gemini client')

const sealed = { origin: { format: 'anthropic-messages', account: 'v/1' }, kind: 'signature', data: 'ünï+/=' } as const

function stateOf(part: object) {
  const [, turn] = turnsOf(QUESTION, model(part))
  const [first] = turn?.role === 'assistant' ? turn.content : []
  return first && 'state' in first ? first.state : undefined
}

signatures('of the gateway come back whole, in either alphabet of base64', () => {
  const bytes = encodeUtf8(sealState(sealed))
  for (const thoughtSignature of [toBase64(bytes), toBase64Url(bytes)]) {
    assert.equal(stateOf({ text: 'hm', thought: true, thoughtSignature }), sealed)
    assert.equal(stateOf({ functionCall: { name: 'f' }, thoughtSignature }), sealed)
    assert.equal(stateOf({ text: '', thoughtSignature }), sealed)
    assert.equal(stateOf({ inlineData: { mimeType: 'image/png', data: PNG }, thoughtSignature }), sealed)
  }
})

signatures("of Google's own stay as they are, by an account that nobody knows", () => {
  const bare = { origin: { format: 'gemini', account: '' }, kind: 'thought-signature', data: 'EpYSCpMS_-==' }
  assert.equal(stateOf({ functionCall: { name: 'f' }, thought_signature: 'EpYSCpMS_-==' }), bare)
})

signatures('that stand for none are none', () => {
  for (const thoughtSignature of ['skip_thought_signature_validator', 'c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I='])
    assert.is(stateOf({ functionCall: { name: 'f' }, thoughtSignature }), undefined)
})

const tools = suite('tools of a Gemini request')

tools('are the functions of all entries, in either language of schemas', () => {
  const { tools: told, warnings } = parse({
    tools: [
      { functionDeclarations: [{ name: 'f', description: 'd', parametersJsonSchema: { type: 'object', a_b: 1 } }] },
      {
        function_declarations: [
          {
            name: 'g',
            parameters: { type: 'OBJECT', properties: { a_b: { type: 'STRING', nullable: true } } },
            responseJsonSchema: { type: 'string' },
          },
          { name: 'h', behavior: 'BLOCKING' },
        ],
      },
      { googleSearch: { excludeDomains: ['a.com'] } },
    ],
  })
  assert.equal(told, [
    { type: 'function', name: 'f', description: 'd', schema: { type: 'object', a_b: 1 } },
    {
      ...{ type: 'function', name: 'g', schema: { type: 'object', properties: { a_b: { type: ['string', 'null'] } } } },
      outputSchema: { type: 'string' },
    },
    { type: 'function', name: 'h' },
    { type: 'web-search', blockedDomains: ['a.com'] },
  ])
  assert.equal(warnings, ['dropped:tools[1].functionDeclarations[1].behavior'])
})

for (const [calling, expected] of [
  [{}, undefined],
  [{ streamFunctionCallArguments: true }, undefined],
  [{ mode: 'AUTO' }, { type: 'auto' }],
  [{ mode: 'none' }, { type: 'none' }],
  [{ mode: 'ANY' }, { type: 'required' }],
  [
    { mode: 'ANY', allowedFunctionNames: ['f'] },
    { type: 'tool', name: 'f' },
  ],
  [
    { mode: 'any', allowed_function_names: ['f', 'g'] },
    { type: 'allowed', mode: 'required', names: ['f', 'g'] },
  ],
  [{ mode: 'VALIDATED' }, { type: 'auto' }],
  [
    { mode: 'VALIDATED', allowedFunctionNames: ['f'] },
    { type: 'allowed', mode: 'auto', names: ['f'] },
  ],
] as [object, CanonicalRequest['toolChoice']][])
  tools(`are chosen by ${JSON.stringify(calling)}`, () =>
    assert.equal(parse({ toolConfig: { functionCallingConfig: calling } }).toolChoice, expected),
  )
