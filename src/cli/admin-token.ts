import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ManagementOptions } from '../http/management-options.ts'
import { bearerToken } from '../lib/http-headers.ts'
import { isClientKey } from '../store/client-key.ts'
import { problem } from './problem.ts'

/** The credential of `/api`. When the program makes the token, it keeps only the token's digest, beside the store. */
interface AdminToken {
  management: ManagementOptions
  /**
   * Makes a token on the first start, or to replace the one before, and resolves to it; otherwise to `undefined`. The token is never in clear
   * anywhere else.
   */
  mint(): Promise<string | undefined>
}

interface AdminTokenOptions {
  /** The data folder, which exists. */
  folder: string
  /** The token from the environment; with it no token is made, and none is kept. */
  given: string | undefined
  /** Should a new token replace the present one? */
  renew: boolean
}

/** Throws a problem when the digest cannot be used. The digest is read again for each request, so that a replaced token is refused at once. */
export async function openAdminToken({ folder, given, renew }: AdminTokenOptions): Promise<AdminToken> {
  if (given !== undefined) return { management: { token: given }, mint: async () => undefined }
  const path = join(folder, 'admin-token.sha256')
  if (!renew) await readDigest(path)

  async function authorize({ headers }: Request): Promise<true | string> {
    const presented = bearerToken(headers.get('authorization'))
    const expected = await readDigest(path)
    if (presented === undefined) return `Send the admin token as "Authorization: Bearer <token>". ${WHERE}`
    const isRight = expected !== undefined && timingSafeEqual(digestOf(presented), expected)
    if (isRight) return true
    return isClientKey(presented)
      ? `This is an API key for /v1; the management API takes the admin token instead. ${WHERE}`
      : `The admin token is wrong. ${WHERE}`
  }

  return { management: { authorize }, mint: () => mint(path, renew) }
}

async function mint(path: string, renew: boolean): Promise<string | undefined> {
  const token = `sbx_admin_${randomBytes(32).toString('base64url')}`
  const line = `${digestOf(token).toString('hex')}\n`
  try {
    if (!renew) await writeFile(path, line, { flag: 'wx', mode: 0o600, flush: true })
    else {
      await rm(`${path}.new`, { force: true })
      await writeFile(`${path}.new`, line, { flag: 'wx', mode: 0o600, flush: true })
      await rename(`${path}.new`, path)
    }
    return token
  } catch (cause) {
    if (!renew && codeOf(cause) === 'EEXIST') return undefined // a token exists, perhaps made a moment ago by another process
    throw problem(
      `The digest of the admin token cannot be written to ${path} (${codeOf(cause)}): check the folder and the disk.`,
      { cause },
    )
  }
}

const WHERE = 'It was printed on the first start; if it is lost, start once with --new-token.'

const digestOf = (token: string) => createHash('sha256').update(token).digest()

async function readDigest(path: string): Promise<Buffer | undefined> {
  const text = await readFile(path, 'latin1').catch((cause: unknown) => {
    if (codeOf(cause) === 'ENOENT') return undefined
    throw problem(
      `The digest of the admin token cannot be read: ${path} (${codeOf(cause)}). Check its owner and mode.`,
      { cause },
    )
  })
  if (text === undefined) return undefined
  if (!/^[0-9a-f]{64}\n$/.test(text)) {
    throw problem(`The digest of the admin token is damaged: ${path}. Start once with --new-token to make a new one.`)
  }
  return Buffer.from(text.trim(), 'hex')
}

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : String(error))
