/* Declares the parts of Deno and of separately installed packages that the documentation's blocks use. */

declare module 'pg' {
  const pg: {
    Pool: new (
      options: object,
    ) => import('../../adapters/storage/postgres.ts').PostgresPool & {
      on(event: 'error', listener: (error: Error) => void): unknown
      end(): Promise<void>
    }
  }
  export default pg
}

declare module 'redis' {
  export function createClient(options: {
    socket: { reconnectStrategy(tries: number): number; [option: string]: unknown }
    [option: string]: unknown
  }): import('../../adapters/storage/redis/redis-client.ts').NodeRedisClient & {
    on(event: 'error', listener: (error: Error) => void): unknown
    connect(): Promise<unknown>
  }
}

declare module '@neondatabase/serverless' {
  export function neon(url: string): import('../../adapters/storage/postgres.ts').PostgresPool
}

declare module '@libsql/client/web' {
  export function createClient(options: {
    url: string
    authToken: string
  }): import('../../adapters/storage/sqlite/remote.ts').LibsqlClient
}

declare module 'unstorage' {
  export function createStorage(options: { driver: unknown }): import('../../adapters/storage/unstorage.ts').Unstorage
}

declare module 'unstorage/drivers/fs' {
  export default function fsDriver(options: { base: string }): unknown
}

declare const Deno: { openKv(): Promise<import('../../adapters/storage/deno-kv.ts').DenoKv> }

declare module 'hono' {
  export class Hono<E extends { Variables: object }> {
    all(
      path: string,
      handle: (context: {
        req: { raw: Request }
        get<Name extends keyof E['Variables']>(name: Name): E['Variables'][Name]
      }) => Promise<Response>,
    ): void
  }
}
