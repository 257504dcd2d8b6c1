import { type CanonicalRequest, type OutputFormat, type RequestOptions, withOwn } from '../../canonical/request.ts'
import { defined } from '../../canonical/values.ts'
import type { TargetContext, WrittenRequest } from '../../translator.ts'
import { resolutionOf } from '../media.ts'
import { writeThinking } from '../reasoning.ts'
import { modelPath } from '../stream-state.ts'
import type { WireConfig, WireRequest } from '../wire.ts'
import { writeContents, writeSystem } from './conversation.ts'
import { openApiSchema } from './schema.ts'
import { writeToolConfig, writeTools } from './tools.ts'

/** Writes a request. A stream is requested by another method in the path. */
export function writeRequest(request: CanonicalRequest, target: TargetContext): WrittenRequest {
  const method = request.stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
  return { path: `${modelPath(target.model)}:${method}`, headers: {}, body: writeBody(request, target) }
}

function writeBody(request: CanonicalRequest, target: TargetContext): WireRequest {
  const { turns, tools, toolChoice, options } = request
  const body = defined<WireRequest>({
    contents: writeContents(turns, target),
    systemInstruction: writeSystem(turns),
    tools: writeTools(tools, target),
    toolConfig: writeToolConfig(toolChoice, tools, target),
    generationConfig: writeConfig(request, target),
    labels: options.labels,
    serviceTier: writeTier(options.serviceTier, target),
    store: options.store,
  })
  return withOwn(body, request, 'gemini')
}

/** Writes a request to count tokens: bare contents, or else a whole request, which must also name its model. */
export function writeCountRequest(request: CanonicalRequest, target: TargetContext): WrittenRequest {
  const path = modelPath(target.model)
  const whole = writeBody(request, target)
  const isBare = Object.keys(whole).every((name) => name === 'contents')
  const body = isBare ? whole : { generateContentRequest: { model: path.slice(1), ...whole } }
  return { path: `${path}:countTokens`, headers: {}, body }
}

/** Writes `generationConfig`; `undefined` when it is empty. */
function writeConfig({ options, output, turns }: CanonicalRequest, target: TargetContext): WireConfig | undefined {
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

/** Writes the schema of the answer in that of Google's two schema languages which the target reads. */
function writeSchema(output: OutputFormat | undefined, { traits, warnings }: TargetContext) {
  const schema = output?.type === 'json-schema' ? described(output) : undefined
  const isOlder = traits.schema === 'openapi'
  return {
    responseJsonSchema: isOlder ? undefined : schema,
    responseSchema:
      isOlder && schema
        ? openApiSchema(schema, (path) => warnings.noteDropped(`${warnings.pathOf(output ?? {}, 'output')}.${path}`))
        : undefined,
  }
}

/** Puts name and description into the schema, since the format has no field for them. */
function described({ name, description, schema }: OutputFormat & { type: 'json-schema' }) {
  return { ...(name && { title: name }), ...(description && { description }), ...schema }
}

/** Writes the voice. Google has voices by name, and sends only raw samples. */
function writeSpeech({ voice, format }: NonNullable<RequestOptions['speech']>, { warnings }: TargetContext) {
  if (typeof voice !== 'string') return warnings.refuse('speech', 'the target knows voices by their names only.')
  if (format !== undefined && format !== 'pcm16') warnings.refuse('speech', 'the target speaks in pcm16 only.')
  return { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } }
}

/** Writes the service tier, if Google has a corresponding one. */
function writeTier(
  tier: RequestOptions['serviceTier'],
  { warnings }: TargetContext,
): WireRequest['serviceTier'] | undefined {
  if (tier === undefined || tier === 'auto') return undefined
  if (tier === 'default') return 'standard'
  if (tier === 'flex' || tier === 'priority') return tier
  warnings.noteDropped('serviceTier')
  return undefined
}
