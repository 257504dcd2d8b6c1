import { defined } from '../canonical/defined.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { TargetContext, WrittenRequest } from '../translator.ts'
import { writeContents, writeSystem } from './contents-write.ts'
import { modelPath } from './endpoints.ts'
import { writeConfig, writeTier } from './options-write.ts'
import { writeToolConfig, writeTools } from './tools-write.ts'
import type { WireRequest } from './wire.ts'

/** A request as a provider wants it; a stream is another method of the model. */
export function writeRequest(request: CanonicalRequest, target: TargetContext): WrittenRequest {
  const method = request.stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
  return { path: `${modelPath(target.model)}:${method}`, headers: {}, body: writeBody(request, target) }
}

export function writeBody(request: CanonicalRequest, target: TargetContext): WireRequest {
  const { turns, tools, toolChoice, options } = request
  return defined<WireRequest>({
    contents: writeContents(turns, target),
    systemInstruction: writeSystem(turns),
    tools: writeTools(tools, target),
    toolConfig: writeToolConfig(toolChoice, tools, target),
    generationConfig: writeConfig(request, target),
    labels: options.labels,
    serviceTier: writeTier(options.serviceTier, target),
    store: options.store,
  })
}
