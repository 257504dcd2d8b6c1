import { isObject, tryParseJson } from '../../../lib/json.ts'
import type { SseEvent } from '../../../lib/sse.ts'
import { addCharges } from '../canonical/reported-cost.ts'
import { updateUsage } from '../canonical/reported-usage.ts'
import {
  createStreamProgress,
  type ResponseReader,
  type StreamState,
  toContentFields,
  toCountReader,
  type UpstreamFormat,
} from '../format.ts'
import { converseErrors, readError, readException } from './converse-errors.ts'
import { eventStreamFraming } from './converse-event-stream.ts'
import { readConverseUsage, toMalformedError } from './converse-fields.ts'
import { converseTranslator } from './converse-translator.ts'

const responseReader: ResponseReader = {
  isResponse: ({ output, stopReason }) => isObject(output) || Boolean(stopReason),
  isEmpty: () => false, // according to recordings, empty responses are normal
  getError(response) {
    if (isObject(response) && 'output' in response)
      return isEmptyOutput(response.output) ? toMalformedError(response.stopReason) : undefined
    const { message } = isObject(response) ? readError(response) : {}
    return message === undefined ? undefined : { message, status: 502, error: response }
  },
  getUsage: (response) => (isObject(response) ? readConverseUsage(response.usage) : undefined),
  loadStateFactory: async () => createConverseStreamState,
  isResponseEvent: () => true, // its streams are never passed through
  assemblesEvents: true,
  contentFields: toContentFields('text', 'toolUse'),
}

/** AWS Bedrock Converse: one format for many vendors' models. It is only for providers. */
export const bedrockConverse: UpstreamFormat = {
  name: 'bedrock-converse',
  auth: 'bearer',
  defaultHeaders: {},
  framing: eventStreamFraming,
  loadErrors: async () => converseErrors,
  loadReaders: async () => ({ generate: responseReader, 'count-tokens': toCountReader(responseReader) }),
  loadTranslator: async () => converseTranslator,
}

function isEmptyOutput(output: unknown): boolean {
  const content = isObject(output) && isObject(output.message) ? output.message.content : undefined
  return !Array.isArray(content) || content.length === 0
}

/** Tracks a stream from `messageStart` to `metadata`, which comes after the end and has the token usage. */
function createConverseStreamState(): StreamState {
  const state = { ...createStreamProgress(), observe }

  function observe({ event, data }: SseEvent) {
    switch (event) {
      case 'messageStart':
      case 'contentBlockStop':
        return
      case 'messageStop': {
        const payload = state.hasStarted ? undefined : tryParseJson(data)
        state.error ??= isObject(payload) ? toMalformedError(payload.stopReason) : undefined
        state.isSilent = !state.hasStarted
        state.hasStarted ||= !state.error
        state.hasEnded = true
        return
      }
      case 'metadata': {
        const payload = tryParseJson(data)
        state.usage = updateUsage(
          state.usage,
          isObject(payload) ? addCharges(readConverseUsage(payload.usage), payload) : undefined,
        )
        state.isClosed = state.hasEnded
        return
      }
      case 'contentBlockStart':
      case 'contentBlockDelta':
        state.hasStarted = true
        return
      default:
        state.error ??= readException(event, data)
    }
  }

  return state
}
