import { isObject, type JsonObject } from '../../../lib/json.ts'
import { formatSseEvent } from '../../../lib/sse.ts'
import { pickFields } from './pick-fields.ts'
import type { RefusalFormat, RefusalReason } from './refusal-formats.ts'

/** Anthropic's Messages. */
export const messagesRefusal: RefusalFormat = {
  writeWhole: (answer, reason) => ({
    ...pickFields(answer, ['id', 'type', 'role', 'model', 'usage']),
    content: [],
    stop_reason: 'refusal',
    stop_sequence: null,
    stop_details: toDetails(reason),
  }),
  createEnding() {
    const open = new Set<unknown>()
    let startUsage: JsonObject = {}
    return {
      observe({ type, index, message }) {
        if (type === 'content_block_start') open.add(index)
        else if (type === 'content_block_stop') open.delete(index)
        else if (type === 'message_start' && isObject(message) && isObject(message.usage)) startUsage = message.usage
      },
      end(reason, { outputTokens }) {
        const write = (type: string, fields: JsonObject) =>
          formatSseEvent({ event: type, data: JSON.stringify({ type, ...fields }) })
        const stops = [...open].map((index) => write('content_block_stop', { index }))
        const delta = { stop_reason: 'refusal', stop_sequence: null, stop_details: toDetails(reason) }
        const counts = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens']
        const usage = { ...pickFields(startUsage, counts), output_tokens: outputTokens }
        return stops.join('') + write('message_delta', { delta, usage }) + write('message_stop', {})
      },
    }
  },
}

const toDetails = ({ message }: RefusalReason) => ({ type: 'refusal', category: null, explanation: message })
