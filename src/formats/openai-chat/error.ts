import { tryParseJson } from '../../lib/json.ts'
import { errorObjectIn } from '../error-object.ts'
import type { ErrorTelling } from '../format.ts'
import { openaiErrorBody } from '../openai-error-body.ts'

export const chatErrors: ErrorTelling = {
  body: openaiErrorBody,
  event: (error) => `data: ${JSON.stringify(openaiErrorBody(error))}\n\n`,
  isReadable: (body) => errorObjectIn(body) !== undefined,
  isErrorEvent: ({ data }) => errorObjectIn(tryParseJson(data)) !== undefined,
}
