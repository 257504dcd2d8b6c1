import type { Random } from '../../support/random.ts'
import { messages } from './world.ts'

/** Creates a random request. It may limit its response to a random number of tokens. */
export function bodyFor(random: Random): { path: string; body: object; most: number | undefined; isPriced: boolean } {
  const most = random.below(3) === 0 ? undefined : 1 + random.below(random.below(4) === 0 ? 3_500 : 300)
  const stream = random.below(2) === 0
  const model =
    ['one/m', 'two/m', 'cheap/m', 'claude/c', 'google/g', 'open/r', 'chain', 'hedged', 'free/m'][random.below(9)] ?? ''
  const n = random.below(10) === 0 ? 1 + random.below(3) : undefined
  const isPriced = model !== 'free/m'
  switch (random.below(5)) {
    case 0:
      return { path: '/v1/messages', body: { model, messages, stream, max_tokens: most }, most, isPriced }
    case 1:
      return { path: '/v1/responses', body: { model, input: 'Hi', stream, max_output_tokens: most }, most, isPriced }
    case 2: {
      const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
      const path = `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`
      return { path, body: { contents, generationConfig: { maxOutputTokens: most } }, most, isPriced }
    }
    default:
      return {
        path: '/v1/chat/completions',
        body: { model, messages, stream, max_tokens: most, ...(n && { n }) },
        most: (most ?? 1_024) * (n ?? 1),
        isPriced,
      }
  }
}

/** Cuts off a streamed response after this many chunks. Doesn't change other responses. */
export async function cutAt(
  answering: Response | Promise<Response>,
  chunks: number,
  isBroken: boolean,
): Promise<Response> {
  const response = await answering
  if (!/event-stream/.test(response.headers.get('content-type') ?? '')) return response
  const reader = response.body?.getReader()
  let left = chunks
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (left-- > 0) {
          const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
          return done ? controller.close() : controller.enqueue(value)
        }
        if (isBroken) controller.error(new TypeError('terminated'))
        else controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, { headers: response.headers })
}
