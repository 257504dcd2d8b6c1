import { isObject, type JsonObject, tryParseJson } from '../../../lib/json.ts'
import { insertFirstMember, setMember } from '../../../lib/json-edit.ts'
import type { SseEvent } from '../../../lib/sse.ts'

/* `stream_options.include_usage` requests a stream's usage, and a chunk without choices reports it. */

/** Adds the usage request to the text without changing anything else. `body` is the parsed text. */
export const addUsageRequest = (text: string, body: JsonObject): string =>
  body.stream_options === undefined
    ? insertFirstMember(text, USAGE_OPTION)
    : setMember(text, 'stream_options', (options) =>
        setMember(options?.startsWith('{') ? options : '{}', 'include_usage', () => 'true'),
      )

const USAGE_OPTION = '"stream_options":{"include_usage":true}'

/** Returns whether the event only reports the usage. Clients only expect it if they requested it. */
export function isUsageEvent({ data }: SseEvent): boolean {
  if (!USAGE_PATTERN.test(data)) return false
  const chunk = tryParseJson(data)
  if (!isObject(chunk) || !isObject(chunk.usage) || chunk.error) return false
  const { choices = null } = chunk
  return choices === null || (Array.isArray(choices) && choices.length === 0)
}

/** Matches chunks that contain usage. In most chunks, it is absent or null, so they don't need to be parsed. */
const USAGE_PATTERN = /"usage"\s*:\s*\{/
