import { gatewayError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { type Answer, settleFinish } from '../canonical/answer.ts'
import { defined } from '../canonical/defined.ts'
import { textIn } from '../canonical/text-in.ts'
import type { ReadContext } from '../translator.ts'
import { responseError } from './error-parse.ts'
import { createOutputParser } from './output-parse.ts'
import { finishReasonOf } from './stop-reason.ts'
import { responseUsage } from './usage.ts'

/** A provider's whole response. One that has failed is an error, whatever it had said before. */
export function parseAnswer(body: JsonObject, context: ReadContext): Answer {
  if (body.status === 'failed' || body.status === 'cancelled') {
    const { message, status } = responseError(body.error)
    throw gatewayError('UPSTREAM_FAILED', { message, status })
  }
  if (!Array.isArray(body.output) || body.status === 'queued' || body.status === 'in_progress')
    throw gatewayError('UPSTREAM_INVALID', { message: 'The provider sent an answer without output.' })
  const parser = createOutputParser(context)
  const content = body.output.filter(isObject).flatMap(parser.parse)
  const hasCalls = content.some((part) => part.type === 'tool-call')
  return defined<Answer>({
    id: textIn(body.id),
    model: textIn(body.model),
    choices: [{ content, finish: settleFinish({ reason: finishReasonOf(body) }, hasCalls) }],
    usage: responseUsage(body.usage),
    serviceTier: textIn(body.service_tier),
  })
}
