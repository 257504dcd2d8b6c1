import { defined } from '../canonical/defined.ts'
import type { CanonicalRequest, OutputFormat, RequestOptions } from '../canonical/request.ts'
import type { TargetContext } from '../translator.ts'
import { resolutionOf } from './media-resolution.ts'
import { openApiSchema } from './schema-write.ts'
import { writeThinking } from './thinking.ts'
import type { WireConfig, WireRequest } from './wire.ts'

/** `generationConfig`; undefined when it says nothing. */
export function writeConfig(
  { options, output, turns }: CanonicalRequest,
  target: TargetContext,
): WireConfig | undefined {
  const { logprobs, modalities, reasoning, speech } = options
  const config = defined<WireConfig>({
    candidateCount: options.candidates,
    maxOutputTokens: options.maxOutputTokens,
    temperature: options.temperature,
    topP: options.topP,
    topK: options.topK,
    frequencyPenalty: options.frequencyPenalty,
    presencePenalty: options.presencePenalty,
    seed: options.seed,
    stopSequences: options.stop,
    responseLogprobs: logprobs === undefined ? undefined : true,
    logprobs: logprobs || undefined,
    responseModalities: modalities?.map((modality) => MODALITIES[modality]),
    speechConfig: speech && writeSpeech(speech, target),
    mediaResolution: resolutionOf(turns, target.warnings),
    thinkingConfig: reasoning && writeThinking(reasoning, target.traits.reasoning),
    responseMimeType: output && 'application/json',
    ...writeSchema(output, target),
  })
  return Object.keys(config).length > 0 ? config : undefined
}

const MODALITIES = { text: 'TEXT', image: 'IMAGE', audio: 'AUDIO' } as const

/** In the one of Google's two languages that the target reads. */
function writeSchema(output: OutputFormat | undefined, { traits, warnings }: TargetContext) {
  const schema = output?.type === 'json-schema' ? described(output) : undefined
  const isOlder = traits.schema === 'openapi'
  return {
    responseJsonSchema: isOlder ? undefined : schema,
    responseSchema:
      isOlder && schema
        ? openApiSchema(schema, (path) => warnings.dropped(`${warnings.pathOf(output ?? {}, 'output')}.${path}`))
        : undefined,
  }
}

/** There is no other place for what the answer is to be, and how it is called. */
function described({ name, description, schema }: OutputFormat & { type: 'json-schema' }) {
  return { ...(name && { title: name }), ...(description && { description }), ...schema }
}

/** Google names its voices and answers in bare samples, whatever the client would like to hear. */
function writeSpeech({ voice, format }: NonNullable<RequestOptions['speech']>, { warnings }: TargetContext) {
  if (typeof voice !== 'string') return warnings.refuse('speech', 'the target knows voices by their names only.')
  if (format !== undefined && format !== 'pcm16') warnings.refuse('speech', 'the target speaks in pcm16 only.')
  return { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } }
}

/** The tier, if Google has one like it. */
export function writeTier(
  tier: RequestOptions['serviceTier'],
  { warnings }: TargetContext,
): WireRequest['serviceTier'] | undefined {
  if (tier === undefined || tier === 'auto') return undefined
  if (tier === 'default') return 'standard'
  if (tier === 'flex' || tier === 'priority') return tier
  warnings.dropped('serviceTier')
  return undefined
}
