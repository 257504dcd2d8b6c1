import type { CanonicalRequest, RequestOptions } from '../../../../src/formats/canonical/request.ts'
import type { Tool } from '../../../../src/formats/canonical/tools.ts'
import { geminiTranslator } from '../../../../src/formats/gemini/translator.ts'
import type { ReasoningTraits, Traits } from '../../../../src/traits.ts'
import { assert, suite } from '../../../support/suite.ts'
import { contexts } from '../../support/contexts.ts'
import { EMPTY, send } from '../support/write-request.ts'

const configOf = (options: RequestOptions, traits?: Partial<Traits>) => send({ options }, traits).body.generationConfig

const path = suite('paths of Gemini requests')

path('the path names model and method, and asks for events', () => {
  assert.is(send({}).path, '/models/m:generateContent')
  assert.is(send({ stream: true }).path, '/models/m:streamGenerateContent?alt=sse')
})

path('a model name stays within its path segment', () => {
  const { target } = contexts(geminiTranslator)
  const pathOf = (model: string) => geminiTranslator.writeRequest(EMPTY, { ...target, model }).path
  assert.is(pathOf('models/gemini-2.5-flash'), '/models/gemini-2.5-flash:generateContent')
  assert.is(pathOf('tunedModels/x'), '/tunedModels/x:generateContent')
  assert.is(pathOf('a/b?key=a#b'), '/models/a%2Fb%3Fkey%3Da%23b:generateContent')
  assert.throws(() => pathOf('../../v1/x?key=a#b'), /cannot stand in the path/)
})

const options = suite('options written for a Gemini provider')

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
  options(`options are written: ${name}`, () => assert.equal(configOf(asked, traits), expected))

options('tier, store and labels stand beside the configuration, where the target takes them', () => {
  const asked = { serviceTier: 'default', store: false, labels: { a: 'b' } } as const
  const { body, warnings } = send({ options: asked })
  assert.equal([body.serviceTier, body.store, body.labels], ['standard', false, undefined])
  assert.equal(warnings, ['dropped:labels'])
  assert.equal(send({ options: asked }, { lacks: [] }).body.labels, { a: 'b' })
  assert.equal(send({ options: { serviceTier: 'scale' } }).warnings, ['dropped:serviceTier'])
  assert.is(send({ options: { serviceTier: 'auto' } }).body.serviceTier, undefined)
})

options('an audio format that Google does not have is refused', () => {
  assert.throws(() => configOf({ speech: { voice: 'Kore', format: 'mp3' } }), /pcm16/)
  assert.throws(() => configOf({ speech: { voice: { id: 'x' } } }), /by their names/)
})

options('forbidding parallel calls is dropped with a warning', () => {
  const tools: Tool[] = [{ type: 'function', name: 'f' }]
  assert.equal(send({ tools, options: { parallelToolCalls: false } }).warnings, ['dropped:parallelToolCalls'])
})

const output = suite('output formats written for Gemini')

const schema = { type: 'object', properties: { a: { type: ['string', 'null'] } }, additionalProperties: false }

output('the output is JSON, or JSON by a schema in the language of the target', () => {
  const config = (asked: CanonicalRequest['output'], traits?: Partial<Traits>) => {
    const { body } = send({ ...(asked && { output: asked }) }, traits)
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
