import {
  type CanonicalRequest,
  mergeVendorFields,
  type OutputFormat,
  type RequestOptions,
} from '../../canonical/canonical-request.ts'
import { omitUndefined } from '../../canonical/canonical-values.ts'
import type { TargetContext, UpstreamRequest } from '../../translator.ts'
import { getResolution } from '../gemini-media.ts'
import { writeThinking } from '../gemini-reasoning.ts'
import type { WireConfig, WireRequest } from '../gemini-wire.ts'
import { toModelPath } from '../model-path.ts'
import { writeContents, writeSystem } from './gemini-provider-conversation.ts'
import { toOpenApiSchema } from './gemini-provider-schema.ts'
import { writeToolConfig, writeTools } from './gemini-provider-tools.ts'

/** Writes a request. Streaming requests use a different method in the path. */
export function writeRequest(request: CanonicalRequest, target: TargetContext): UpstreamRequest {
  const method = request.stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
  return { path: `${toModelPath(target.model)}:${method}`, headers: {}, body: writeBody(request, target) }
}

function writeBody(request: CanonicalRequest, target: TargetContext): WireRequest {
  const { turns, tools, toolChoice, options } = request
  const body = omitUndefined<WireRequest>({
    contents: writeContents(turns, target),
    systemInstruction: writeSystem(turns),
    tools: writeTools(tools, target),
    toolConfig: writeToolConfig(toolChoice, tools, target),
    generationConfig: writeConfig(request, target),
    labels: options.labels,
    serviceTier: writeTier(options.serviceTier, target),
    store: options.store,
  })
  return mergeVendorFields(body, request, 'gemini')
}

/** Writes a token-count request: bare contents, or an entire request, which must also name its model. */
export function writeCountRequest(request: CanonicalRequest, target: TargetContext): UpstreamRequest {
  const path = toModelPath(target.model)
  const requestBody = writeBody(request, target)
  const hasOnlyContents = Object.keys(requestBody).every((name) => name === 'contents')
  const body = hasOnlyContents ? requestBody : { generateContentRequest: { model: path.slice(1), ...requestBody } }
  return { path: `${path}:countTokens`, headers: {}, body }
}

/** Writes `generationConfig`. Returns `undefined` if it is empty. */
function writeConfig({ options, output, turns }: CanonicalRequest, target: TargetContext): WireConfig | undefined {
  const { logprobs, modalities, reasoning, speech } = options
  const config = omitUndefined<WireConfig>({
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
    mediaResolution: getResolution(turns, target.warnings),
    thinkingConfig: reasoning && writeThinking(reasoning, target.traits.reasoning),
    responseMimeType: output && 'application/json',
    ...writeSchema(output, target),
  })
  return Object.keys(config).length > 0 ? config : undefined
}

const MODALITIES = { text: 'TEXT', image: 'IMAGE', audio: 'AUDIO' } as const

/** Writes the output schema in the Google schema language that the target supports. */
function writeSchema(output: OutputFormat | undefined, { traits, warnings }: TargetContext) {
  const schema = output?.type === 'json-schema' ? describeSchema(output) : undefined
  const usesOpenApi = traits.schema === 'openapi'
  return {
    responseJsonSchema: usesOpenApi ? undefined : schema,
    responseSchema:
      usesOpenApi && schema
        ? toOpenApiSchema(schema, (path) => warnings.recordDrop(`${warnings.getPath(output ?? {}, 'output')}.${path}`))
        : undefined,
  }
}

/** Puts the name and description in the schema, because the format has no fields for them. */
function describeSchema({ name, description, schema }: OutputFormat & { type: 'json-schema' }) {
  return { ...(name && { title: name }), ...(description && { description }), ...schema }
}

/** Writes the voice. Google only supports named voices, and only returns raw samples. */
function writeSpeech({ voice, format }: NonNullable<RequestOptions['speech']>, { warnings }: TargetContext) {
  if (typeof voice !== 'string') return warnings.reject('speech', 'the target only supports voices by name.')
  if (format !== undefined && format !== 'pcm16') warnings.reject('speech', 'the target only supports pcm16 output.')
  return { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } }
}

/** Writes the service tier if Google has an equivalent. */
function writeTier(
  tier: RequestOptions['serviceTier'],
  { warnings }: TargetContext,
): WireRequest['serviceTier'] | undefined {
  if (tier === undefined || tier === 'auto') return undefined
  if (tier === 'default') return 'standard'
  if (tier === 'flex' || tier === 'priority') return tier
  warnings.recordDrop('serviceTier')
  return undefined
}
