const login = (origin: string, user: string) =>
  fetch(`${origin}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ user }),
  })

/** Signs in to an app that returns a token. */
export async function withToken(origin: string, user: string): Promise<Record<string, string>> {
  const { token } = await (await login(origin, user)).json()
  return { authorization: `Bearer ${token}` }
}

/** Signs in to an app that sets cookies. */
export async function withCookies(origin: string, user: string): Promise<Record<string, string>> {
  return { cookie: getCookies(await login(origin, user)) }
}

/** Returns the cookies set by a response as a `cookie` header for later requests. */
export const getCookies = ({ headers }: Response): string =>
  headers
    .getSetCookie()
    .map((cookie) => cookie.split(';', 1)[0])
    .join('; ')
