import { withoutUndefined } from '../canonical/defined.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { TargetContext, WrittenRequest } from '../translator.ts'
import { writeOptions, writeOutput } from './options-write.ts'
import { writeToolChoice, writeTools } from './tools-write.ts'
import { writeTurns } from './turns-write.ts'

/** A chat completion as a provider wants it. Its tokens are asked for in every stream, so that they can be counted. */
export function writeRequest(request: CanonicalRequest, target: TargetContext): WrittenRequest {
  const { stream, turns, tools, toolChoice, output, options } = request
  const body = {
    model: target.model,
    messages: writeTurns(turns, target),
    ...writeTools(tools, target),
    tool_choice: writeToolChoice(toolChoice, tools, target),
    response_format: writeOutput(output),
    ...writeOptions(options, target),
    stream: stream || undefined,
    stream_options: stream && target.traits.streamUsage ? { include_usage: true } : undefined,
  }
  return { path: '/chat/completions', headers: {}, body: withoutUndefined(body) }
}
