import { decodeUtf8Lenient } from '../../lib/bytes.ts'
import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import type { Ask } from '../request.ts'

/** A Gemini request in Vertex's form: the publisher in the path, without fields that only the Gemini API accepts. */
export function geminiOnVertex({ path, headers, body }: Ask): Omit<Ask, 'query'> {
  const text = typeof body === 'string' ? body : decodeUtf8Lenient(body)
  const json = STRANGE.test(text) ? tryParseJson(text) : undefined
  return {
    path: `/publishers/google${path}`,
    headers,
    body: isObject(json) ? JSON.stringify(adapted(json)) : text,
  }
}

/** Fields that may have to be removed; most requests have none of them and stay unchanged. */
const STRANGE = /"(?:id|store|generateContentRequest|generate_content_request)"\s*:/

/** Vertex has no storage, counts bare contents only, and matches calls to results by name and order. */
function adapted(json: JsonObject): JsonObject {
  const whole = json.generateContentRequest ?? json.generate_content_request
  const { store: _, ...request } = isObject(whole) ? only(whole, COUNTED) : json
  const { contents } = request
  return Array.isArray(contents) ? { ...request, contents: contents.map(withoutIds) } : request
}

const COUNTED = /^(?:contents|system_?instruction|tools|generation_?config)$/i

const only = (json: JsonObject, names: RegExp): JsonObject =>
  Object.fromEntries(Object.entries(json).filter(([name]) => names.test(name)))

function withoutIds(content: unknown): unknown {
  if (!isObject(content) || !Array.isArray(content.parts)) return content
  const parts = content.parts.map((part: unknown) => {
    if (!isObject(part)) return part
    const named = CALLS.filter((name) => isObject(part[name]))
    return { ...part, ...Object.fromEntries(named.map((name) => [name, withoutId(part[name])])) }
  })
  return { ...content, parts }
}

const CALLS = ['functionCall', 'function_call', 'functionResponse', 'function_response']

function withoutId(call: unknown): unknown {
  if (!isObject(call)) return call
  const { id: _, ...rest } = call
  return rest
}
