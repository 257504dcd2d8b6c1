const TIME_DIGITS = 12 // 48 bits

/** Creates a request ID for the arrival time (epoch ms): a UUIDv7, so IDs sort by time. `random` is a UUIDv4. */
export function createRequestId(time: number, random: string): string {
  return `${encodeTime(time)}-7${random.slice(15)}`
}

/** Caches the digits of the latest timestamp, because many requests share it. */
let encodedTime = -1
let encodedDigits = ''

function encodeTime(time: number): string {
  if (encodedTime === time) return encodedDigits
  const digits = Math.max(0, Math.trunc(time)).toString(16).padStart(TIME_DIGITS, '0')
  encodedTime = time
  encodedDigits = `${digits.slice(0, 8)}-${digits.slice(8)}`
  return encodedDigits
}

/** Returns a request's arrival time, in epoch ms, given its ID. */
export function getRequestTime(id: string): number {
  if (parsedTime >= 0 && id.startsWith(parsedDigits)) return parsedTime
  parsedDigits = id.slice(0, 13)
  parsedTime = Number.parseInt(parsedDigits.slice(0, 8) + parsedDigits.slice(9), 16)
  return parsedTime
}

/** Caches the timestamp that was parsed last. */
let parsedTime = -1
let parsedDigits = ''

/** Returns the smallest string greater than all IDs of requests that arrived by `time`. */
export const getIdAfter = (time: number): string => createRequestId(time + 1, '').slice(0, 13)

/** Returns whether the string is a request ID or a result of `getIdAfter`. */
export const isRequestIdOrPrefix = (text: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}(?:-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})?$/.test(text)
