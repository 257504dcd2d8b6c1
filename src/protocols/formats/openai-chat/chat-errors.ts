import { tryParseJson } from '../../../lib/json.ts'
import { getErrorObject, readMessage } from '../errors/read-error.ts'
import type { FormatErrors } from '../format.ts'
import { writeOpenAIErrorBody } from '../openai-errors.ts'

/** Reads and writes Chat Completions errors. */
export const chatErrors: FormatErrors = {
  createBody: writeOpenAIErrorBody,
  createEvent: (error) => `data: ${JSON.stringify(writeOpenAIErrorBody(error))}\n\n`,
  isReadable: (body) => getErrorObject(body) !== undefined,
  isErrorEvent: ({ data }) => getErrorObject(tryParseJson(data)) !== undefined,
  isOverflowError: ({ code }) => code === 'context_length_exceeded',
  read: readMessage,
  writeBody: (error) => ({ error }),
}
