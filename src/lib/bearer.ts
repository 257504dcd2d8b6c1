/** The credential of an `Authorization: Bearer` header; `undefined` for any other value, and for none. */
export function bearerToken(authorization: string | null | undefined): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
}
