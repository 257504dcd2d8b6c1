import type { CanonicalRequest, RequestOptions } from '../../../../src/protocols/formats/canonical/canonical-request.ts'
import type { Tool } from '../../../../src/protocols/formats/canonical/canonical-tools.ts'
import { geminiTranslator } from '../../../../src/protocols/formats/gemini/gemini-translator.ts'
import type { ReasoningTraits, Traits } from '../../../../src/traits.ts'
import { assert, suite } from '../../../support/suite.ts'
import { contexts } from '../../support/contexts.ts'
import { EMPTY, send } from '../support/write-request.ts'

const getConfig = (options: RequestOptions, traits?: Partial<Traits>) => send({ options }, traits).body.generationConfig

const path = suite('Gemini request paths')

path('a Gemini request path contains the model and method, and requests SSE for a stream', () => {
  assert.is(send({}).path, '/models/m:generateContent')
  assert.is(send({ stream: true }).path, '/models/m:streamGenerateContent?alt=sse')
})

path("a model name can't escape its path segment", () => {
  const { target } = contexts(geminiTranslator)
  const getPath = (model: string) => geminiTranslator.writeRequest(EMPTY, { ...target, model }).path
  assert.is(getPath('models/gemini-2.5-flash'), '/models/gemini-2.5-flash:generateContent')
  assert.is(getPath('tunedModels/x'), '/tunedModels/x:generateContent')
  assert.is(getPath('a/b?key=a#b'), '/models/a%2Fb%3Fkey%3Da%23b:generateContent')
  assert.throws(() => getPath('../../v1/x?key=a#b'), /cannot be used in a URL path/)
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
  'at most five stop sequences': [
    { stop: ['a', 'b', 'c', 'd', 'e', 'f'] },
    { stopSequences: ['a', 'b', 'c', 'd', 'e'] },
  ],
  candidates: [{ candidates: 2 }, { candidateCount: 2 }],
  'logprobs without alternatives': [{ logprobs: 0 }, { responseLogprobs: true }],
  'logprobs with alternatives': [{ logprobs: 3 }, { responseLogprobs: true, logprobs: 3 }],
  modalities: [{ modalities: ['text', 'image'] }, { responseModalities: ['TEXT', 'IMAGE'] }],
  'a voice': [
    { speech: { voice: 'Kore', format: 'pcm16' }, modalities: ['audio'] },
    { responseModalities: ['AUDIO'], speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } } },
  ],
  'an effort as a budget': [{ reasoning: { effort: 'low' } }, { thinkingConfig: { thinkingBudget: 1_024 } }],
  'disabled thinking': [{ reasoning: { effort: 'none' } }, { thinkingConfig: { thinkingBudget: 0 } }],
  'visible reasoning': [
    { reasoning: { budget: 2_000, show: 'full' } },
    { thinkingConfig: { includeThoughts: true, thinkingBudget: 2_000 } },
  ],
  'only whether to show reasoning': [{ reasoning: { show: 'summary' } }, { thinkingConfig: { includeThoughts: true } }],
  'an effort as a level': [
    { reasoning: { effort: 'medium', show: 'none' } },
    { thinkingConfig: { includeThoughts: false, thinkingLevel: 'MEDIUM' } },
    reasoning({ control: 'level' }),
  ],
  'the highest level for a higher effort': [
    { reasoning: { effort: 'max' } },
    { thinkingConfig: { thinkingLevel: 'HIGH' } },
    reasoning({ control: 'level' }),
  ],
  'no level if the model chooses': [{ reasoning: { budget: 'auto' } }, undefined, reasoning({ control: 'level' })],
}

for (const [name, [request, expected, traits]] of Object.entries(table))
  options(`writes ${name}`, () => assert.equal(getConfig(request, traits), expected))

options('writes the tier, store, and labels alongside the configuration if the target accepts them', () => {
  const request = { serviceTier: 'default', store: false, labels: { a: 'b' } } as const
  const { body, warnings } = send({ options: request })
  assert.equal([body.serviceTier, body.store, body.labels], ['standard', false, undefined])
  assert.equal(warnings, ['dropped:labels'])
  assert.equal(send({ options: request }, { lacks: [] }).body.labels, { a: 'b' })
  assert.equal(send({ options: { serviceTier: 'scale' } }).warnings, ['dropped:serviceTier'])
  assert.is(send({ options: { serviceTier: 'auto' } }).body.serviceTier, undefined)
})

options('an audio format that Google does not support is rejected', () => {
  assert.throws(() => getConfig({ speech: { voice: 'Kore', format: 'mp3' } }), /pcm16/)
  assert.throws(() => getConfig({ speech: { voice: { id: 'x' } } }), /voices by name/)
})

options('drops a setting that forbids parallel calls with a warning', () => {
  const tools: Tool[] = [{ type: 'function', name: 'f' }]
  assert.equal(send({ tools, options: { parallelToolCalls: false } }).warnings, ['dropped:parallelToolCalls'])
})

const output = suite('output formats for Gemini')

const schema = { type: 'object', properties: { a: { type: ['string', 'null'] } }, additionalProperties: false }

output("requests JSON output, with a schema in the target's schema language if there is one", () => {
  const config = (request: CanonicalRequest['output'], traits?: Partial<Traits>) => {
    const { body } = send({ ...(request && { output: request }) }, traits)
    return body.generationConfig
  }
  const responseMimeType = 'application/json'
  assert.equal(config({ type: 'json' }), { responseMimeType })
  assert.equal(config({ type: 'json-schema', name: 'n', strict: true, schema }), {
    responseMimeType,
    responseJsonSchema: { title: 'n', ...schema },
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
