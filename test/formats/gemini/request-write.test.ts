import type { AssistantPart, UserPart } from '../../../src/formats/canonical/parts.ts'
import { prepareRequest } from '../../../src/formats/canonical/prepare/prepare.ts'
import type { CanonicalRequest, RequestOptions } from '../../../src/formats/canonical/request.ts'
import type { Tool, ToolChoice } from '../../../src/formats/canonical/tools.ts'
import type { ToolResult, Turn } from '../../../src/formats/canonical/turns.ts'
import { geminiTranslator } from '../../../src/formats/gemini/translator.ts'
import type { ReasoningTraits, Traits } from '../../../src/traits.ts'
import { assert, suite } from '../../support/suite.ts'
import { contexts } from '../support/contexts.ts'

const text = (words: string) => ({ type: 'text', text: words }) as const
const QUESTION: Turn = { role: 'user', content: [text('q')] }
const EMPTY: CanonicalRequest = {
  ...{ model: 'm', stream: false, streamUsage: false, turns: [QUESTION], tools: [], options: {} },
}

/** As a provider gets it: prepared, then written. */
function send(request: Partial<CanonicalRequest>, traits: Partial<Traits> = {}) {
  const { target, warnings } = contexts(geminiTranslator, { traits })
  const { carries } = geminiTranslator
  const { request: prepared } = prepareRequest({ ...EMPTY, ...request }, { ...target, carries })
  const { path, body } = geminiTranslator.writeRequest(prepared, target)
  return { path, body, warnings: warnings.list() }
}

const contents = (...turns: Turn[]) => send({ turns }).body.contents
const configOf = (options: RequestOptions, traits?: Partial<Traits>) => send({ options }, traits).body.generationConfig

const path = suite('the path of a Gemini request')

path('names model and method, and asks for events', () => {
  assert.is(send({}).path, '/models/m:generateContent')
  assert.is(send({ stream: true }).path, '/models/m:streamGenerateContent?alt=sse')
})

path('keeps a name within its segment', () => {
  const { target } = contexts(geminiTranslator)
  const pathOf = (model: string) => geminiTranslator.writeRequest(EMPTY, { ...target, model }).path
  assert.is(pathOf('models/gemini-2.5-flash'), '/models/gemini-2.5-flash:generateContent')
  assert.is(pathOf('tunedModels/x'), '/tunedModels/x:generateContent')
  assert.is(pathOf('../../v1/x?key=a#b'), '/models/..%2F..%2Fv1%2Fx%3Fkey%3Da%23b:generateContent')
})

const turns = suite('contents for a Gemini provider')

const call = (id: string, extra: Partial<AssistantPart> = {}): AssistantPart =>
  ({ type: 'tool-call', id, name: 'f', arguments: '{"a":1}', ...extra }) as AssistantPart // the caller's part of a call
const result = (callId: string, content: ToolResult['content'], isError?: true): ToolResult => ({
  ...{ callId, content },
  ...(isError && { isError }),
})

turns('instructions at the start have their own field, later ones are in the words of the user', () => {
  const system = (words: string): Turn => ({ role: 'system', as: 'system', content: [text(words)] })
  const { body } = send({
    turns: [system('a'), system('b'), QUESTION, { role: 'assistant', content: [text('x')] }, system('c'), QUESTION],
  })
  assert.equal(body.systemInstruction, { parts: [{ text: 'a' }, { text: 'b' }] })
  const roles = Object(body.contents).map(({ role }: { role: string }) => role)
  assert.equal(roles, ['user', 'model', 'user'])
  assert.match(JSON.stringify(Object(body.contents)[2]), /<system>.*c.*q/)
})

turns('results and the words behind them are one turn of the user, with the names of their calls', () => {
  const parts: AssistantPart[] = [call('a'), call('b', { arguments: '' })]
  assert.equal(
    contents(
      QUESTION,
      { role: 'assistant', content: parts },
      { role: 'tool', results: [result('a', [text('ok')]), result('b', [text('no')], true)] },
      QUESTION,
    ),
    [
      { role: 'user', parts: [{ text: 'q' }] },
      {
        role: 'model',
        parts: [
          {
            functionCall: { id: 'a', name: 'f', args: { a: 1 } },
            thoughtSignature: 'skip_thought_signature_validator',
          },
          { functionCall: { id: 'b', name: 'f', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'a', name: 'f', response: { output: 'ok' } } },
          { functionResponse: { id: 'b', name: 'f', response: { error: 'no' } } },
          { text: 'q' },
        ],
      },
    ],
  )
})

turns('a result is an object: itself, or wrapped', () => {
  const response = (words: string) => {
    const [, , third] = Object(
      contents(
        QUESTION,
        { role: 'assistant', content: [call('a')] },
        { role: 'tool', results: [result('a', [text(words)])] },
      ),
    )
    return third.parts[0].functionResponse.response
  }
  assert.equal(response('{"a":1}'), { a: 1 })
  assert.equal(response('[1]'), { output: [1] })
  assert.equal(response('5'), { output: '5' })
  assert.equal(response('{"output":"x"}'), { output: { output: 'x' } })
  assert.equal(response('{cut'), { output: '{cut' })
})

turns('a signature of the provider stands on its part as it was, and nobody else gets one', () => {
  const { target } = contexts(geminiTranslator)
  const own = { origin: target.origin, kind: 'thought-signature', data: 'c2ln' } as const
  const foreign = { ...own, origin: { ...own.origin, account: 'other' } }
  const said = contents(
    QUESTION,
    { role: 'assistant', content: [{ ...text('a'), state: own }, call('c', { state: own }), call('d')] },
    { role: 'tool', results: [result('c', []), result('d', [])] },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'hm', state: own },
        { ...text('b'), state: foreign },
      ],
    },
    QUESTION,
  )
  const [, first, , second] = Object(said)
  assert.equal(first.parts, [
    { text: 'a', thoughtSignature: 'c2ln' },
    { functionCall: { id: 'c', name: 'f', args: { a: 1 } }, thoughtSignature: 'c2ln' },
    { functionCall: { id: 'd', name: 'f', args: { a: 1 } } },
  ])
  assert.equal(second.parts, [{ text: 'hm', thought: true, thoughtSignature: 'c2ln' }, { text: 'b' }])
})

turns('a conversation that the model begins begins with the user all the same', () => {
  const { body, warnings } = send({ turns: [{ role: 'assistant', content: [text('a')] }, QUESTION] })
  assert.equal(Object(body.contents)[0], { role: 'user', parts: [{ text: '.' }] })
  assert.equal(warnings, ['added:contents'])
  assert.equal(send({ turns: [] }).body.contents, [{ role: 'user', parts: [{ text: '.' }] }])
})

turns('a name has no place', () => {
  assert.equal(send({ turns: [{ ...QUESTION, name: 'bob' }] }).warnings, ['dropped:messages.name'])
})

turns('a refusal is text', () => {
  assert.equal(
    Object(contents(QUESTION, { role: 'assistant', content: [{ type: 'refusal', text: 'no' }] }, QUESTION))[1],
    {
      role: 'model',
      parts: [{ text: 'no' }],
    },
  )
})

const media = suite('media for a Gemini provider')

const PNG = 'iVBORw0KGgoAAAAN'
const png = { type: 'base64', mediaType: 'image/png', data: PNG } as const

for (const [name, part, expected] of [
  ['an image', { type: 'image', source: png }, { inlineData: { mimeType: 'image/png', data: PNG } }],
  [
    'a text',
    { type: 'file', source: { type: 'text', mediaType: 'text/plain', text: 'é' } },
    { inlineData: { mimeType: 'text/plain', data: 'w6k=' } },
  ],
  [
    'a film, by its address',
    { type: 'video', source: { type: 'url', url: 'https://youtu.be/x' }, endOffset: '3s' },
    { fileData: { mimeType: 'video/mp4', fileUri: 'https://youtu.be/x' }, videoMetadata: { endOffset: '3s' } },
  ],
] as [string, UserPart, object][])
  media(`are written: ${name}`, () => {
    assert.equal(contents({ role: 'user', content: [part] }), [{ role: 'user', parts: [expected] }])
  })

media('an address goes to who can fetch it', () => {
  const image: Turn = {
    role: 'user',
    content: [{ type: 'image', source: { type: 'url', url: 'https://a.com/b.webp' } }],
  }
  assert.throws(() => contents(image), /images by their address/)
  const { body } = send({ turns: [image] }, { inputs: ['image', 'image-url'] })
  assert.equal(Object(body.contents)[0].parts, [
    { fileData: { mimeType: 'image/webp', fileUri: 'https://a.com/b.webp' } },
  ])
})

media('a file at Google goes to Google, one of another vendor nowhere', () => {
  const { target } = contexts(geminiTranslator)
  const write = (format: 'gemini' | 'openai-chat') =>
    geminiTranslator.writeRequest(
      {
        ...EMPTY,
        turns: [
          {
            role: 'user',
            content: [{ type: 'file', source: { type: 'file-id', id: 'x', format, mediaType: 'text/csv' } }],
          },
        ],
      },
      target,
    ).body.contents
  assert.equal(Object(write('gemini'))[0].parts, [{ fileData: { mimeType: 'text/csv', fileUri: 'x' } }])
  assert.throws(() => write('openai-chat'), /not at Google/)
})

media('in the result of a function have parts of their own, or follow the results', () => {
  const history: Turn[] = [
    QUESTION,
    { role: 'assistant', content: [call('a')] },
    { role: 'tool', results: [result('a', [text('see'), { type: 'image', source: png }])] },
  ]
  const last = (traits?: Partial<Traits>) => Object(send({ turns: history }, traits).body.contents)[2].parts
  const inlineData = { mimeType: 'image/png', data: PNG }
  assert.equal(last(), [
    { functionResponse: { id: 'a', name: 'f', response: { output: 'see' }, parts: [{ inlineData }] } },
  ])
  const moved = last({ toolResultInputs: [] })
  assert.equal([moved.length, moved[0].functionResponse.parts, moved[2]], [3, undefined, { inlineData }])
})

media('are looked at as closely as all images that ask for it', () => {
  const ask = (...details: ('low' | 'high' | 'auto')[]) =>
    send({ turns: [{ role: 'user', content: details.map((detail) => ({ type: 'image', source: png, detail })) }] })
  const resolutionIn = (sent: ReturnType<typeof ask>) => Object(sent.body.generationConfig ?? {}).mediaResolution
  assert.is(resolutionIn(ask('low', 'auto', 'low')), 'MEDIA_RESOLUTION_LOW')
  assert.is(resolutionIn(ask('auto')), undefined)
  assert.is(resolutionIn(ask('low', 'high')), undefined)
  assert.equal(ask('low', 'high').warnings, ['dropped:generationConfig.mediaResolution'])
})

const options = suite('options for a Gemini provider')

const reasoning = (traits: Partial<ReasoningTraits>) => ({
  reasoning: { ...geminiTranslator.traits.reasoning, ...traits },
})

const table: Record<string, [options: RequestOptions, expected: object | undefined, traits?: Partial<Traits>]> = {
  'sampling and limits': [
    {
      temperature: 0,
      topK: 1,
      topP: 1,
      maxOutputTokens: 9,
      stop: ['a'],
      seed: 0,
      presencePenalty: 1,
      frequencyPenalty: 2,
    },
    {
      maxOutputTokens: 9,
      temperature: 0,
      topP: 1,
      topK: 1,
      frequencyPenalty: 2,
      presencePenalty: 1,
      seed: 0,
      stopSequences: ['a'],
    },
  ],
  'at most five stops': [{ stop: ['a', 'b', 'c', 'd', 'e', 'f'] }, { stopSequences: ['a', 'b', 'c', 'd', 'e'] }],
  candidates: [{ candidates: 2 }, { candidateCount: 2 }],
  'logprobs of the tokens alone': [{ logprobs: 0 }, { responseLogprobs: true }],
  'logprobs of others': [{ logprobs: 3 }, { responseLogprobs: true, logprobs: 3 }],
  modalities: [{ modalities: ['text', 'image'] }, { responseModalities: ['TEXT', 'IMAGE'] }],
  'a voice': [
    { speech: { voice: 'Kore', format: 'pcm16' }, modalities: ['audio'] },
    { responseModalities: ['AUDIO'], speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } } },
  ],
  'an effort as a budget': [{ reasoning: { effort: 'low' } }, { thinkingConfig: { thinkingBudget: 1_024 } }],
  'no thinking': [{ reasoning: { effort: 'none' } }, { thinkingConfig: { thinkingBudget: 0 } }],
  'thoughts to read': [
    { reasoning: { budget: 2_000, show: 'full' } },
    { thinkingConfig: { includeThoughts: true, thinkingBudget: 2_000 } },
  ],
  'nothing but thoughts to read': [{ reasoning: { show: 'summary' } }, { thinkingConfig: { includeThoughts: true } }],
  'an effort as a level': [
    { reasoning: { effort: 'medium', show: 'none' } },
    { thinkingConfig: { includeThoughts: false, thinkingLevel: 'MEDIUM' } },
    reasoning({ by: 'level' }),
  ],
  'the highest level for more': [
    { reasoning: { effort: 'max' } },
    { thinkingConfig: { thinkingLevel: 'HIGH' } },
    reasoning({ by: 'level' }),
  ],
  'no level where the model decides': [{ reasoning: { budget: 'auto' } }, undefined, reasoning({ by: 'level' })],
}

for (const [name, [asked, expected, traits]] of Object.entries(table))
  options(`are written: ${name}`, () => assert.equal(configOf(asked, traits), expected))

options('beside the configuration: tier, store, and labels where they are taken', () => {
  const asked = { serviceTier: 'default', store: false, labels: { a: 'b' } } as const
  const { body, warnings } = send({ options: asked })
  assert.equal([body.serviceTier, body.store, body.labels], ['standard', false, undefined])
  assert.equal(warnings, ['dropped:labels'])
  assert.equal(send({ options: asked }, { lacks: [] }).body.labels, { a: 'b' })
  assert.equal(send({ options: { serviceTier: 'scale' } }).warnings, ['dropped:serviceTier'])
  assert.is(send({ options: { serviceTier: 'auto' } }).body.serviceTier, undefined)
})

options('a sound that Google does not make is refused', () => {
  assert.throws(() => configOf({ speech: { voice: 'Kore', format: 'mp3' } }), /pcm16/)
  assert.throws(() => configOf({ speech: { voice: { id: 'x' } } }), /by their names/)
})

options('calls at the same time cannot be forbidden', () => {
  const tools: Tool[] = [{ type: 'function', name: 'f' }]
  assert.equal(send({ tools, options: { parallelToolCalls: false } }).warnings, ['dropped:parallelToolCalls'])
})

const output = suite('the form of an answer from Gemini')

const schema = { type: 'object', properties: { a: { type: ['string', 'null'] } }, additionalProperties: false }

output('is JSON, or JSON after a schema in the language of the target', () => {
  const config = (asked: CanonicalRequest['output'], traits?: Partial<Traits>) => {
    const { body } = send({ ...(asked && { output: asked }) }, traits)
    return body.generationConfig
  }
  const responseMimeType = 'application/json'
  assert.equal(config({ type: 'json' }), { responseMimeType })
  assert.equal(config({ type: 'json-schema', name: 'n', strict: true, schema }), {
    responseMimeType,
    responseJsonSchema: schema,
  })
  assert.equal(config({ type: 'json-schema', description: 'd', schema }), {
    responseMimeType,
    responseJsonSchema: { description: 'd', ...schema },
  })
  assert.equal(config({ type: 'json-schema', schema }, { schema: 'openapi' }), {
    responseMimeType,
    responseSchema: { type: 'OBJECT', properties: { a: { type: 'STRING', nullable: true } } },
  })
})

const tools = suite('tools for a Gemini provider')

const f: Tool = {
  type: 'function',
  name: 'f',
  description: 'd',
  schema: { type: 'object', properties: { a: { type: 'string', minLength: 1, contentEncoding: 'x' } } },
}

tools('functions are in one entry, with JSON Schema as it is', () => {
  const { body } = send({ tools: [f, { type: 'function', name: 'g' }, { type: 'web-search' }] })
  assert.equal(body.tools, [
    { functionDeclarations: [{ name: 'f', description: 'd', parametersJsonSchema: f.schema }, { name: 'g' }] },
    { googleSearch: {} },
  ])
})

tools('an older target gets its own language, and what is lost is told of', () => {
  const { body, warnings } = send(
    { tools: [f, { type: 'function', name: 'g', schema: { type: 'object', properties: {} } }] },
    { schema: 'openapi' },
  )
  const parameters = { type: 'OBJECT', properties: { a: { type: 'STRING', minLength: 1 } } }
  assert.equal(body.tools, [{ functionDeclarations: [{ name: 'f', description: 'd', parameters }, { name: 'g' }] }])
  assert.equal(warnings, ['dropped:tools.f.properties.a.contentEncoding'])
})

tools('a search that cannot be kept to domains is refused, what it may ignore is told of', () => {
  const search = (fields: object) => send({ tools: [{ type: 'web-search', ...fields }] })
  assert.throws(() => search({ allowedDomains: ['a.com'] }), /certain domains/)
  assert.equal(search({ maxUses: 1 }).warnings, ['dropped:tools'])
  assert.equal(search({ blockedDomains: ['a.com'] }).body.tools, [{ googleSearch: { excludeDomains: ['a.com'] } }])
})

for (const [choice, expected] of [
  [{ type: 'auto' }, { mode: 'AUTO' }],
  [{ type: 'none' }, { mode: 'NONE' }],
  [{ type: 'required' }, { mode: 'ANY' }],
  [
    { type: 'tool', name: 'f' },
    { mode: 'ANY', allowedFunctionNames: ['f'] },
  ],
  [
    { type: 'allowed', mode: 'required', names: ['f'] },
    { mode: 'ANY', allowedFunctionNames: ['f'] },
  ],
  [
    { type: 'allowed', mode: 'auto', names: ['f'] },
    { mode: 'VALIDATED', allowedFunctionNames: ['f'] },
  ],
] as [ToolChoice, object][])
  tools(`are chosen: ${JSON.stringify(choice)}`, () => {
    assert.equal(send({ tools: [f], toolChoice: choice }).body.toolConfig, { functionCallingConfig: expected })
  })

tools('are not chosen where there is only the search, which is no function', () => {
  const search: Tool = { type: 'web-search' }
  assert.is(send({ tools: [search], toolChoice: { type: 'auto' } }).body.toolConfig, undefined)
  const { body, warnings } = send({ tools: [search], toolChoice: { type: 'required' } })
  assert.is(body.toolConfig, undefined)
  assert.equal(warnings, ['dropped:toolConfig.functionCallingConfig'])
})
