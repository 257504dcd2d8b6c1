import type { SharedCredentialSource } from '../../src/index.ts'
import { checkOptions } from '../lib/check-options.ts'
import { keepUntilRejected } from './lib/keep-until-rejected.ts'
import { loadPackage } from './lib/load-package.ts'

/** The methods of `GoogleAuth` (`google-auth-library`) that the gateway calls. */
export interface GoogleAuthClient {
  getClient(): Promise<{
    getAccessToken(): Promise<{ token?: string | null }>
    /** The credentials in use; `expiry_date` is in epoch ms. */
    credentials: { expiry_date?: number | null }
  }>
}

/** Options for `googleCredentials`; all are optional. */
export interface GoogleCredentialsOptions {
  /** OAuth scopes. Default: `https://www.googleapis.com/auth/cloud-platform`. */
  scopes?: string | string[]
  /** Creates the `GoogleAuth` to use, without `scopes`. Called on the first request, and again if Google rejects a token. */
  auth?: () => GoogleAuthClient
}

const ADVICE =
  'Check that the key file or the service account still works. If it uses your own login, sign in: gcloud auth application-default login.'

interface GoogleAuthLibrary {
  GoogleAuth: new (options: { scopes: string | string[]; projectId: string }) => GoogleAuthClient
}

/**
 * Returns access tokens for Vertex AI from Application Default Credentials: a key file, workload identity federation, your `gcloud` login, or the
 * metadata server. All requests share a token. Needs the package `google-auth-library`, unless you set `auth`. Throws a TypeError for invalid options.
 */
export function googleCredentials(options: GoogleCredentialsOptions = {}): SharedCredentialSource {
  checkOptions(options, { scopes: true, auth: true })
  const { scopes = 'https://www.googleapis.com/auth/cloud-platform', auth } = options
  const getAuth = keepUntilRejected(auth ?? createAuth)
  return {
    shared: true,
    ...(!auth && { advice: ADVICE }),
    async resolve(request) {
      const client = await (await getAuth(request)).getClient()
      const { token } = await client.getAccessToken() // renews a token that expires within five minutes
      if (!token) return undefined
      const { expiry_date: expiresAt } = client.credentials
      return { accessToken: token, ...(expiresAt && { expiresAt }) }
    },
  }

  async function createAuth(): Promise<GoogleAuthClient> {
    const { GoogleAuth } = await loadPackage<GoogleAuthLibrary>(
      'google-auth-library',
      () => import('google-auth-library' as string), // the type hides the package from the compiler, because apps may not have it installed
    )
    return new GoogleAuth({ scopes, projectId: 'unused' }) // without a project ID, it looks one up first, which takes seconds outside Google Cloud
  }
}
