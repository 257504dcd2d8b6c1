import type { SharedCredentialSource } from '../../src/index.ts'
import { checkOptions } from '../lib/check-options.ts'
import { keepUntilRejected } from './lib/keep-until-rejected.ts'
import { loadPackage } from './lib/load-package.ts'

/** A `TokenCredential` from the Azure SDK. */
export interface AzureTokenCredential {
  getToken(
    scope: string,
    options: { abortSignal: AbortSignal },
  ): Promise<{ token: string; expiresOnTimestamp: number } | null>
}

/** Options for `azureCredentials`; all are optional. */
export interface AzureCredentialsOptions {
  /** The scope of the tokens. Default: `https://cognitiveservices.azure.com/.default`. */
  scope?: string
  /** The client ID of a user-assigned managed identity. Default: `AZURE_CLIENT_ID`, or else the system-assigned identity. */
  clientId?: string
  /** Creates the credential to use instead of `DefaultAzureCredential`. Called on the first request, and again if Azure rejects a token. */
  credential?: () => AzureTokenCredential
}

const ADVICE =
  'Check that the environment variables or the managed identity still work. If it uses your own login, sign in: az login.'

interface AzureIdentity {
  DefaultAzureCredential: new (options: { managedIdentityClientId?: string }) => AzureTokenCredential
}

/**
 * Returns Entra ID tokens for Azure OpenAI from `DefaultAzureCredential`: environment variables, workload identity, managed identity, or a developer
 * tool's login. All requests share a token. Needs the package `@azure/identity`, unless you set `credential`. Throws a TypeError for invalid options.
 */
export function azureCredentials(options: AzureCredentialsOptions = {}): SharedCredentialSource {
  checkOptions(options, { scope: true, clientId: true, credential: true })
  const { scope = 'https://cognitiveservices.azure.com/.default', clientId, credential } = options
  const getCredential = keepUntilRejected(credential ?? createCredential)
  return {
    shared: true,
    ...(!credential && { advice: ADVICE }),
    async resolve(request) {
      const found = await (await getCredential(request)).getToken(scope, { abortSignal: request.signal })
      return found ? { accessToken: found.token, expiresAt: found.expiresOnTimestamp } : undefined
    },
  }

  async function createCredential(): Promise<AzureTokenCredential> {
    const { DefaultAzureCredential } = await loadPackage<AzureIdentity>(
      '@azure/identity',
      () => import('@azure/identity' as string), // the type hides the package from the compiler, because apps may not have it installed
    )
    return new DefaultAzureCredential(clientId === undefined ? {} : { managedIdentityClientId: clientId })
  }
}
