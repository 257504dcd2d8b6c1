import { isObject, type JsonObject } from '../../../lib/json.ts'
import { newId } from '../../../lib/new-id.ts'
import { formatSseEvent } from '../../../lib/sse.ts'
import { pickFields } from './pick-fields.ts'
import type { RejectionFormat, RejectionReason } from './rejection-formats.ts'

/** Rejections in Anthropic's Messages format. */
export const messagesRejection: RejectionFormat = {
  writeResponse: (response, reason) => ({
    ...pickFields(response, ['id', 'type', 'role', 'model', 'usage']),
    content: [],
    stop_reason: 'refusal',
    stop_sequence: null,
    stop_details: createStopDetails(reason),
  }),
  createEnding({ model }) {
    const openBlocks = new Set<unknown>()
    let startUsage: JsonObject | undefined
    return {
      observe({ type, index, message }) {
        if (type === 'content_block_start') openBlocks.add(index)
        else if (type === 'content_block_stop') openBlocks.delete(index)
        else if (type === 'message_start')
          startUsage = isObject(message) && isObject(message.usage) ? message.usage : {}
      },
      end(reason, { inputTokens, outputTokens }) {
        const write = (type: string, fields: JsonObject) =>
          formatSseEvent({ event: type, data: JSON.stringify({ type, ...fields }) })
        const message = {
          ...{ id: `msg_${newId()}`, type: 'message', role: 'assistant', model, content: [] },
          ...{ stop_reason: null, stop_sequence: null, usage: { input_tokens: inputTokens, output_tokens: 0 } },
        }
        const startEvent = startUsage ? '' : write('message_start', { message })
        const stopEvents = [...openBlocks].map((index) => write('content_block_stop', { index }))
        const delta = { stop_reason: 'refusal', stop_sequence: null, stop_details: createStopDetails(reason) }
        const inputTokenFields = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens']
        const usage = { ...pickFields(startUsage ?? {}, inputTokenFields), output_tokens: outputTokens }
        return startEvent + stopEvents.join('') + write('message_delta', { delta, usage }) + write('message_stop', {})
      },
    }
  },
}

const createStopDetails = ({ message }: RejectionReason) => ({ type: 'refusal', category: null, explanation: message })
