const BEARER = /^Bearer +\S+ *$/i

/** The credential of an `Authorization: Bearer` header; `undefined` for any other value, and for none. */
export function bearerToken(authorization: string | null | undefined): string | undefined {
  return authorization && BEARER.test(authorization) ? authorization.slice('Bearer '.length).trim() : undefined
}
