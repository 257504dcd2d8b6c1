import { isObject, type JsonObject } from '../../lib/json.ts'
import type { CanonicalRequest } from '../canonical/request.ts'

/** What a response repeats of its request, as OpenAI says it where the client said nothing. */
export const unsaid = {
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: 'default',
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
  presence_penalty: 0,
  frequency_penalty: 0,
}

/** The part of a request that its response repeats. */
export function echoOf(body: JsonObject): JsonObject {
  const echo: JsonObject = {}
  for (const name in unsaid) if (body[name] !== undefined && body[name] !== null) echo[name] = body[name]
  return echo
}

/** All that a response repeats; every field is there, since clients are promised so. */
export function echoed({ client }: CanonicalRequest) {
  const echo = isObject(client?.echo) ? client.echo : {}
  return {
    ...unsaid,
    ...echo,
    reasoning: { ...unsaid.reasoning, ...(isObject(echo.reasoning) && echo.reasoning) },
    text: { ...unsaid.text, ...(isObject(echo.text) && withoutNull(echo.text)) },
    tools: Array.isArray(echo.tools) ? echo.tools.map(wholeTool) : [],
  }
}

/** A function says all of its fields, also those that are not set. */
function wholeTool(tool: unknown): unknown {
  if (!isObject(tool) || tool.type !== 'function') return tool
  return {
    ...tool,
    description: tool.description ?? null,
    parameters: tool.parameters ?? null,
    strict: tool.strict ?? null,
  }
}

function withoutNull(object: JsonObject): JsonObject {
  const said: JsonObject = {}
  for (const name in object) if (object[name] !== null) said[name] = object[name]
  return said
}
