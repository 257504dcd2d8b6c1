import { isObject, tryParseJson } from '../../lib/json.ts'
import { withMember } from '../../lib/json-member.ts'
import type { UsageQuestion } from '../format.ts'

/** `stream_options.include_usage`, and the chunk without choices that answers it. */
export const chatUsageQuestion: UsageQuestion = {
  // Anything else, such as text, is for the provider to refuse.
  isOpen: ({ stream_options: options = null }) =>
    options === null || (isObject(options) && (options.include_usage ?? false) === false),
  ask: (body) =>
    withMember(body, 'stream_options', (options) =>
      withMember(options?.startsWith('{') ? options : '{}', 'include_usage', () => 'true'),
    ),
  isAnswer({ data }) {
    if (!HAS_USAGE.test(data)) return false
    const chunk = tryParseJson(data)
    if (!isObject(chunk) || !isObject(chunk.usage) || chunk.error) return false
    const { choices = null } = chunk
    return choices === null || (Array.isArray(choices) && choices.length === 0)
  },
}

/** Most chunks have none, or say that it is null; they need not be parsed. */
const HAS_USAGE = /"usage"\s*:\s*\{/
