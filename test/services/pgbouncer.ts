import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { skip } from '../support/suite.ts'
import { findFreePort, runner } from './postgres-server.ts'

const PROGRAM = '/usr/sbin/pgbouncer'

/** Starts a PgBouncer in transaction mode in front of a Postgres. Skips the file with a reason if PgBouncer isn't available. */
export async function startBouncer(postgres: string): Promise<{ url: string; remove(): Promise<void> }> {
  if (!existsSync(PROGRAM)) skip('there is no PgBouncer: install pgbouncer')
  const { hostname, port, username, password, pathname } = new URL(postgres)
  const user = runner()
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-pgbouncer-'))
  const ownPort = await findFreePort()
  const database = [`host=${hostname} port=${port || 5432} dbname=${pathname.slice(1)} user=${username}`]
  if (password) database.push(`password=${decodeURIComponent(password)}`)
  const file = join(folder, 'pgbouncer.ini')
  await writeFile(
    file,
    `[databases]
pooled = ${database.join(' ')}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${ownPort}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
max_client_conn = 200
`,
  )
  if (user.uid !== undefined && user.gid !== undefined)
    for (const path of [folder, file]) await chown(path, user.uid, user.gid)
  const child = spawn(PROGRAM, ['-q', file], { ...user, stdio: 'ignore' })
  const ended = once(child, 'exit')
  for (let tries = 0; !(await accepts(ownPort)); tries++) {
    if (tries === 200 || child.exitCode !== null) throw new Error('PgBouncer did not start within 10 s')
    await sleep(50)
  }
  return {
    url: `postgres://any@127.0.0.1:${ownPort}/pooled`,
    async remove() {
      child.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true))
    socket.on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
}
