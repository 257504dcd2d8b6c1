import type { CredentialRequest } from '../../../src/index.ts'

/**
 * Creates a vendor's client with the first request, and another one after the provider has rejected a credential, since a client may return the same
 * credential until its expiry. If that fails, the next request tries again.
 */
export function keepUntilRejected<Client>(
  create: () => Client | Promise<Client>,
): (request: Pick<CredentialRequest, 'reason'>) => Promise<Client> {
  let kept: Promise<Client> | undefined
  return ({ reason }) => {
    if (kept && reason !== 'rejected') return kept
    const creating = Promise.resolve().then(create)
    kept = creating
    creating.catch(() => {
      if (kept === creating) kept = undefined
    })
    return creating
  }
}
