import type { JsonObject } from '../../../../src/lib/json.ts'
import type { CanonicalRequest } from '../../../../src/protocols/formats/canonical/canonical-request.ts'
import { assert, suite } from '../../../support/suite.ts'
import { parse } from '../support/parse-request.ts'

const user = (...parts: object[]) => ({ role: 'user', parts })

const config = (generationConfig: object) => parse({ generationConfig })

const options = suite('Gemini request options')

const table: Record<string, [body: JsonObject, expected: CanonicalRequest['options']]> = {
  'sampling and limits': [
    { generationConfig: { temperature: 0, topP: 0.5, topK: 4, maxOutputTokens: 9, seed: 7, stopSequences: ['a'] } },
    { temperature: 0, topP: 0.5, topK: 4, maxOutputTokens: 9, seed: 7, stop: ['a'] },
  ],
  'snake_case, which REST also accepts': [
    { generation_config: { max_output_tokens: 9, stop_sequences: ['a'], thinking_config: { thinking_budget: 512 } } },
    { maxOutputTokens: 9, stop: ['a'], reasoning: { budget: 512 } },
  ],
  'penalties and candidates': [
    { generationConfig: { presencePenalty: 1, frequencyPenalty: -1, candidateCount: 2 } },
    { presencePenalty: 1, frequencyPenalty: -1, candidates: 2 },
  ],
  'logprobs with a number of alternatives': [
    { generationConfig: { responseLogprobs: true, logprobs: 3 } },
    { logprobs: 3 },
  ],
  'logprobs that are not requested': [{ generationConfig: { logprobs: 3 } }, {}],
  modalities: [{ generationConfig: { responseModalities: ['TEXT', 'IMAGE'] } }, { modalities: ['text', 'image'] }],
  'a voice': [
    { generationConfig: { speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } } } },
    { speech: { voice: 'Kore' } },
  ],
  'disabled thinking': [
    { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } },
    { reasoning: { effort: 'none' } },
  ],
  'adaptive thinking': [
    { generationConfig: { thinkingConfig: { thinkingBudget: -1, includeThoughts: true } } },
    { reasoning: { budget: 'auto', show: 'summary' } },
  ],
  'a lowercase thinking level, with hidden reasoning': [
    { generationConfig: { thinkingConfig: { thinkingLevel: 'low', includeThoughts: false } } },
    { reasoning: { effort: 'low', show: 'none' } },
  ],
  'labels, tier, and store': [
    { labels: { team_name: 'b' }, serviceTier: 'standard', store: false },
    { labels: { team_name: 'b' }, serviceTier: 'default', store: false },
  ],
}

for (const [name, [body, expected]] of Object.entries(table)) {
  options(`parses ${name}`, () => {
    const { options: understood, warnings } = parse(body)
    assert.equal(understood, expected)
    assert.equal(warnings, [])
  })
}

options('Google-only options are dropped with a warning, or rejected in strict mode', () => {
  const body = { safetySettings: [], generationConfig: { enableEnhancedCivicAnswers: true, seed: 1 }, serviceTier: 'x' }
  assert.equal(parse(body).warnings, [
    'dropped:serviceTier',
    'dropped:generationConfig.enableEnhancedCivicAnswers',
    'dropped:safetySettings',
  ])
  assert.throws(() => parse(body, { isStrict: true }), /it would be dropped/)
})

for (const [label, body, message] of [
  ['content cached at Google', { cachedContent: 'cachedContents/1' }, /"cachedContent"/],
  ['a response to continue', { continuationToken: 'x' }, /"continuationToken"/],
  ['several speakers', { generationConfig: { speechConfig: { multiSpeakerVoiceConfig: {} } } }, /speechConfig/],
  ['a wrong type', { generationConfig: { temperature: 'hot' } }, /"generationConfig.temperature": must be a number/],
  [
    'another media type',
    { generationConfig: { responseMimeType: 'text/x.enum' } },
    /"generationConfig.responseMimeType"/,
  ],
  ['a video response', { generationConfig: { responseModalities: ['VIDEO'] } }, /responseModalities/],
  ['no contents', { contents: [] }, /"contents": is required/],
  ['an unknown role', { contents: [{ role: 'system', parts: [] }] }, /"contents\[0\]\.role"/],
  [
    'a part of an unknown type',
    { contents: [user({}, { videoMetadata: {} })] },
    /"contents\[0\]\.parts\[0\]".*"empty"/,
  ],
  ['an image in instructions', { systemInstruction: { parts: [{ inlineData: {} }] } }, /systemInstruction.parts\[0\]/],
  [
    'code for Google to run',
    { tools: [{ functionDeclarations: [] }, { code_execution: {} }] },
    /"tools\[1\].code_execution"/,
  ],
  [
    'a function without a name',
    { tools: [{ functionDeclarations: [{}] }] },
    /functionDeclarations\[0\].name": is required/,
  ],
] as [string, JsonObject, RegExp][])
  options(`rejects ${label} with an error that contains its path`, () => assert.throws(() => parse(body), message))

options("a Gemini request's model, streaming, and stream format come from its path", () => {
  const {
    model: name,
    stream,
    streamUsage,
    client,
  } = parse({ model: 'models/other' }, { route: { model: 'm', stream: true, isArray: true } })
  assert.equal([name, stream, streamUsage, client], ['m', true, true, { isArray: true }])
})

const output = suite('the output format of a Gemini request')

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
    'the older field name',
    { responseMimeType: 'application/json', _responseJsonSchema: schema },
    { type: 'json-schema', schema },
  ],
  [
    "Google's schema format",
    {
      response_mime_type: 'application/json',
      response_schema: { type: 'OBJECT', properties: { a_b: { type: 'STRING' } } },
    },
    { type: 'json-schema', schema },
  ],
] as [string, object, CanonicalRequest['output']][])
  output(`parses ${name}`, () => assert.equal(config(generationConfig).output, expected))
