import { createFinder } from '../../../lib/bytes.ts'
import { isObject } from '../../../lib/json.ts'
import { once } from '../../../lib/promises.ts'
import { hasOnlyItems, isEmptyValue, isNormalEnd } from '../errors/empty-responses.ts'
import { toEmbeddedError } from '../errors/load-error-readers.ts'
import { type ResponseReader, type ResponseReaders, toCountReader } from '../format.ts'
import { parseResponseUsage } from './responses-response.ts'

const responseReader: ResponseReader = {
  isResponse: ({ output, status }) => Array.isArray(output) && (output.length > 0 || typeof status === 'string'),
  isEmpty: ({ status, output }) =>
    isNormalEnd(status, 'completed') &&
    hasOnlyItems(output, ({ type, content }) => type === 'message' && isEmptyValue(content)),
  getError: (response) =>
    isObject(response) && (response.status === 'failed' || !Array.isArray(response.output))
      ? toEmbeddedError(response.error)
      : undefined,
  getUsage: (response) => (isObject(response) ? parseResponseUsage(response.usage) : undefined),
  loadStateFactory: once(async () => (await import('./responses-stream-state.ts')).createResponseStreamState),
  isResponseEvent: createFinder(['"response.', '[DONE]']),
  assemblesEvents: true,
  contentFields: {
    complete: ['text', 'arguments', 'input', 'refusal', 'code', 'action', 'operation', 'encrypted_content'],
    streamed: ['delta'],
    findRepeatedItems: ({ type, item, response }) =>
      type === 'response.output_item.done'
        ? { items: item, isComplete: false }
        : isObject(response)
          ? { items: response.output, isComplete: true }
          : undefined,
  },
}

/** Readers for Responses API responses. */
export const responsesReaders: ResponseReaders = {
  generate: responseReader,
  'count-tokens': toCountReader(responseReader),
  compact: { ...responseReader, assemblesEvents: false },
}
