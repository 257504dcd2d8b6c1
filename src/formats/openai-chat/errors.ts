import { tryParseJson } from '../../lib/json.ts'
import { errorObjectIn, readMessage } from '../errors/read.ts'
import type { FormatErrors } from '../format.ts'
import { openaiErrorBody } from '../openai-errors.ts'

/** Errors of Chat Completions. */
export const chatErrors: FormatErrors = {
  body: openaiErrorBody,
  event: (error) => `data: ${JSON.stringify(openaiErrorBody(error))}\n\n`,
  isReadable: (body) => errorObjectIn(body) !== undefined,
  isErrorEvent: ({ data }) => errorObjectIn(tryParseJson(data)) !== undefined,
  read: readMessage,
  bodyOf: (error) => ({ error }),
}
