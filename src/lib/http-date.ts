/** A date of HTTP in any of its three forms (RFC 9110, 5.6.7), as epoch ms; `undefined` when the text is none. */
export function parseHttpDate(text: string, now: number): number | undefined {
  if (/^[A-Z][a-z]{2}, \d/.test(text)) return parsed(text)
  const short = /^[A-Z][a-z]+, (\d\d)-([A-Z][a-z]{2})-(\d\d) (\d\d:\d\d:\d\d) GMT$/.exec(text)
  if (short) {
    const [, day, month, year, time] = short
    return parsed(`${day} ${month} ${fullYear(Number(year), now)} ${time} GMT`)
  }
  const old = /^[A-Z][a-z]{2} ([A-Z][a-z]{2}) +(\d\d?) (\d\d:\d\d:\d\d) (\d{4})$/.exec(text) // of asctime in C
  if (!old) return undefined
  const [, month, day, time, year] = old
  return parsed(`${day} ${month} ${year} ${time} GMT`)
}

function parsed(text: string): number | undefined {
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? undefined : ms
}

/** A two-digit year that would be more than 50 years ahead is of the last century (RFC 9110). */
function fullYear(year: number, now: number): number {
  const guess = 2000 + year
  return guess > new Date(now).getUTCFullYear() + 50 ? guess - 100 : guess
}
