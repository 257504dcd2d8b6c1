import type { ErrorTelling } from '../format.ts'
import { openaiErrorBody } from '../openai-error-body.ts'

export const chatErrors: ErrorTelling = {
  body: openaiErrorBody,
  event: (error) => `data: ${JSON.stringify(openaiErrorBody(error))}\n\n`,
}
