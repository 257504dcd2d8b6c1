import type { CredentialRequest } from '../../../src/index.ts'

/**
 * Creates a vendor's client on the first request, and a new one after the provider has rejected a credential, because a client may return the same
 * credential until it expires. If that fails, the next request tries again.
 */
export function keepUntilRejected<Client>(
  create: () => Client | Promise<Client>,
): (request: Pick<CredentialRequest, 'reason'>) => Promise<Client> {
  let cached: Promise<Client> | undefined
  return ({ reason }) => {
    if (cached && reason !== 'rejected') return cached
    const creating = Promise.resolve().then(create)
    cached = creating
    creating.catch(() => {
      if (cached === creating) cached = undefined
    })
    return creating
  }
}
