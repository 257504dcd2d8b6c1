import { estimateTokens } from '../formats/estimate-tokens.ts'
import type { Reply } from '../lib/exchange.ts'
import { attemptHeaders } from './attempt-record.ts'
import type { ModelRequest } from './model-request.ts'

/** The answer to a question for the tokens of a request that no provider could count: an estimate, which its headers say that it is. */
export async function estimateReply({ call, format, report }: ModelRequest): Promise<Reply> {
  const translator = await format.loadTranslator?.()
  const tokens = estimateTokens(call.body)
  return {
    status: 200,
    headers: {
      'content-type': 'application/json',
      'x-signalbox-warning': 'estimated:input_tokens',
      ...attemptHeaders(report.steps),
    },
    body: JSON.stringify(translator?.counter?.writeCount(tokens) ?? { input_tokens: tokens }),
  }
}
