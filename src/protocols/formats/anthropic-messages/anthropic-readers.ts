import { createFinder } from '../../../lib/bytes.ts'
import { isObject } from '../../../lib/json.ts'
import { once } from '../../../lib/promises.ts'
import { isEmptyValue, isNormalEnd } from '../errors/empty-responses.ts'
import { toEmbeddedError } from '../errors/load-error-readers.ts'
import { type ResponseReader, type ResponseReaders, toContentFields, toCountReader } from '../format.ts'
import { parseMessageUsage } from './anthropic-response.ts'

const responseReader: ResponseReader = {
  isResponse: ({ content, stop_reason: reason }) => Array.isArray(content) && (content.length > 0 || Boolean(reason)),
  isEmpty: ({ stop_reason: reason, content }) => isNormalEnd(reason, 'end_turn') && isEmptyValue(content),
  getError: (response) =>
    isObject(response) && !('content' in response) ? toEmbeddedError(response.error) : undefined,
  getUsage: (response) => (isObject(response) ? parseMessageUsage(response.usage) : undefined),
  loadStateFactory: once(async () => (await import('./anthropic-stream-state.ts')).createMessageStreamState),
  isResponseEvent: createFinder(['"content_block_', '"message_start"', '"message_delta"', '"message_stop"', '"ping"']),
  assemblesEvents: true,
  contentFields: toContentFields('text', 'thinking', 'partial_json', 'input', 'data', 'content'), // compactions have `content`
}

/** Readers for Anthropic's responses. */
export const anthropicReaders: ResponseReaders = {
  generate: responseReader,
  'count-tokens': toCountReader(responseReader),
}
