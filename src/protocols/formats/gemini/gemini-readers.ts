import { createFinder } from '../../../lib/bytes.ts'
import { isObject } from '../../../lib/json.ts'
import { once } from '../../../lib/promises.ts'
import { updateUsage } from '../canonical/reported-usage.ts'
import { hasOnlyItems, isEmptyValue, isNormalEnd } from '../errors/empty-responses.ts'
import { type ResponseReader, type ResponseReaders, toContentFields, toCountReader } from '../format.ts'
import { readError, readUsage } from './gemini-response.ts'

const responseReader: ResponseReader = {
  isResponse: ({ candidates, promptFeedback }) =>
    (Array.isArray(candidates) && candidates.length > 0) || isObject(promptFeedback),
  isEmpty: ({ candidates }) =>
    Array.isArray(candidates) &&
    candidates.length > 0 &&
    hasOnlyItems(candidates, ({ finishReason, content }) => isNormalEnd(finishReason, 'STOP') && isEmptyValue(content)),
  getError: (response) => toChunks(response).map(readError).find(Boolean),
  getUsage: (response) =>
    toChunks(response).reduce<ReturnType<typeof readUsage>>(
      (last, chunk) => updateUsage(last, readUsage(chunk)),
      undefined,
    ),
  loadStateFactory: once(async () => (await import('./gemini-stream-state.ts')).createGeminiStreamState),
  isResponseEvent: createFinder(['"candidates"', '"usageMetadata"', '"promptFeedback"']),
  assemblesEvents: true,
  contentFields: toContentFields('text', 'functionCall', 'executableCode'),
}

const toChunks = (response: unknown): unknown[] => (Array.isArray(response) ? response : [response])

/** Readers for Gemini's responses. */
export const geminiReaders: ResponseReaders = {
  generate: responseReader,
  'count-tokens': toCountReader(responseReader),
}
