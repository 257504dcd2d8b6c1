import type { FormFile } from '../../../lib/multipart.ts'
import type { RequestBound } from '../../formats/format.ts'

/** Bounds transcriptions. Per second of audio, models use up to 32 input tokens and 5 output tokens. */
export const transcriptionBound: RequestBound = {
  isBilledOnce: true,
  inputTokens: (body, _, files) => 400 + Math.ceil(32 * getMaxDuration(body, files)),
  outputTokens: (body, files) => 100 + Math.ceil(5 * getMaxDuration(body, files)),
  units: (body, files) => ({ second: getMaxDuration(body, files) }),
}

/** The lowest bit rate of speech (6 kbit/s), in bytes per second. Bounds the duration of files whose headers don't contain it. */
const MIN_BYTES_PER_SECOND = 750

const getMaxDuration = (body: object, [file]: readonly FormFile[] = []): number =>
  file
    ? (file.seconds?.() ?? file.bytes.length / MIN_BYTES_PER_SECOND)
    : JSON.stringify(body).length / MIN_BYTES_PER_SECOND
