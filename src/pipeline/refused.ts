import type { EmbeddedError } from '../formats/format.ts'
import { concatBytes } from '../lib/bytes.ts'
import type { ByteStream, UpstreamAnswer } from '../lib/exchange.ts'
import type { Expected, FailedAttempt } from './attempt.ts'
import { contentFailure } from './failure.ts'
import { failureOfEmbedded, failureOfStatus } from './failure-said.ts'

/** Error bodies are read up to this size, since the status says most. */
const MAX_ERROR_BYTES = 64 * 1024

/** The failure that an error status stands for. */
export async function refused(head: UpstreamAnswer, { format, operation, clock }: Expected): Promise<FailedAttempt> {
  const [bytes, reading] = await Promise.all([readError(head.body), format.loadFailures()])
  return { kind: 'failure', failure: failureOfStatus(head, bytes, { reading, operation, now: clock.now() }), head }
}

/** The failure that an error in a 200 stands for. */
export async function embedded(
  error: EmbeddedError,
  head: UpstreamAnswer,
  { format, clock }: Expected,
): Promise<FailedAttempt> {
  if (error.class) return { kind: 'failure', failure: contentFailure(error.message) }
  const reading = await format.loadFailures()
  return { kind: 'failure', failure: failureOfEmbedded(error, { head, reading, now: clock.now() }), head }
}

/** As much of an error body as arrives; a body that breaks off, is silent, slow or large does not hide the status. */
async function readError(body: ByteStream): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let size = 0
  try {
    for (let chunk = await body.next(); chunk; chunk = await body.next()) {
      parts.push(chunk)
      size += chunk.length
      if (size >= MAX_ERROR_BYTES) {
        body.cancel()
        break
      }
    }
  } catch {} // what has come may be all that there is to say
  return concatBytes(parts).subarray(0, MAX_ERROR_BYTES)
}
