import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getBearerToken } from '../lib/http-headers.ts'
import { isClientKey } from '../records/key-format.ts'
import type { ManagementOptions } from '../request/door/management-options.ts'
import { createProblem, getErrorCode } from './problem.ts'

/** The credential for `/api`. If the CLI generates the token, it stores only the token's digest, next to the data. */
interface AdminToken {
  management: ManagementOptions
  /**
   * Generates a token on the first start, or to replace the previous one. Resolves to the new token, or to `undefined` if none was generated. The
   * token is never stored in plain text.
   */
  mint(): Promise<string | undefined>
}

interface AdminTokenOptions {
  /** The data folder. It must exist. */
  folder: string
  /** The token from the environment. If it is set, no token is generated or stored. */
  configuredToken: string | undefined
  /** Whether to replace the current token. */
  renew: boolean
}

/**
 * Loads the token. Throws a problem if the stored digest is unusable. Each request rereads the digest, so a replaced token stops working immediately.
 */
export async function openAdminToken({ folder, configuredToken, renew }: AdminTokenOptions): Promise<AdminToken> {
  if (configuredToken !== undefined) return { management: { token: configuredToken }, mint: async () => undefined }
  const path = join(folder, 'admin-token.sha256')
  if (!renew) await readDigest(path)

  async function authorize({ headers }: Request): Promise<true | string> {
    const presented = getBearerToken(headers.get('authorization'))
    const expected = await readDigest(path)
    if (presented === undefined) return `Send the admin token as "Authorization: Bearer <token>". ${TOKEN_ADVICE}`
    const isValid = expected !== undefined && timingSafeEqual(hashToken(presented), expected)
    if (isValid) return true
    return isClientKey(presented)
      ? `This is a client API key for /v1. The management API needs the admin token. ${TOKEN_ADVICE}`
      : `Invalid admin token. ${TOKEN_ADVICE}`
  }

  return { management: { authorize }, mint: () => mint(path, renew) }
}

async function mint(path: string, renew: boolean): Promise<string | undefined> {
  const token = `sbx_admin_${randomBytes(32).toString('base64url')}`
  const line = `${hashToken(token).toString('hex')}\n`
  try {
    if (!renew) await writeFile(path, line, { flag: 'wx', mode: 0o600, flush: true })
    else {
      await rm(`${path}.new`, { force: true })
      await writeFile(`${path}.new`, line, { flag: 'wx', mode: 0o600, flush: true })
      await rename(`${path}.new`, path)
    }
    return token
  } catch (cause) {
    if (!renew && getErrorCode(cause) === 'EEXIST') return undefined // another process may have just generated the token
    throw createProblem(
      `Cannot write the hash of the admin token to ${path} (${getErrorCode(cause)}). Check the directory's permissions and the disk.`,
      { cause },
    )
  }
}

const TOKEN_ADVICE = 'It was printed on the first start. If you lost it, restart once with --new-token.'

const hashToken = (token: string) => createHash('sha256').update(token).digest()

async function readDigest(path: string): Promise<Buffer | undefined> {
  const text = await readFile(path, 'latin1').catch((cause: unknown) => {
    if (getErrorCode(cause) === 'ENOENT') return undefined
    throw createProblem(
      `Cannot read the hash of the admin token from ${path} (${getErrorCode(cause)}). Check the file's owner and permissions.`,
      { cause },
    )
  })
  if (text === undefined) return undefined
  if (!/^[0-9a-f]{64}\n$/.test(text)) {
    throw createProblem(
      `The hash of the admin token in ${path} is damaged. Restart once with --new-token to create a new token.`,
    )
  }
  return Buffer.from(text.trim(), 'hex')
}
