import {
  APICallError,
  convertToModelMessages,
  createUIMessageStreamResponse,
  RetryError,
  safeValidateUIMessages,
  streamText,
  toUIMessageStream,
} from 'ai'
import { after } from 'next/server'
import { createSignalbox } from 'signalbox/ai'
import { auth } from '../../../lib/auth.ts'
import { gateway } from '../../../lib/gateway.ts'

export async function POST(request: Request) {
  const session = await auth.api.getSession({ headers: request.headers })
  if (!session) return Response.json({ error: 'Sign in to chat.' }, { status: 401 })
  const body = await request.json().catch(() => undefined)
  const messages = await safeValidateUIMessages({ messages: body?.messages })
  if (!messages.success) return Response.json({ error: 'messages is not a list of messages.' }, { status: 400 })

  const models = createSignalbox(gateway, {
    account: { account: session.user.id, name: session.user.email },
    waitUntil: after,
  })
  const { stream } = streamText({
    model: models('chat'),
    messages: await convertToModelMessages(messages.data),
    maxOutputTokens: 2_000,
    abortSignal: request.signal,
  })
  return createUIMessageStreamResponse({ stream: toUIMessageStream({ stream, onError: describe }) })
}

/** Shows the gateway's errors, which are written for users. Other errors could reveal details of the app. */
function describe(error: unknown): string {
  const cause = RetryError.isInstance(error) ? error.lastError : error
  return APICallError.isInstance(cause) ? cause.message : 'Something went wrong. Try again.'
}
