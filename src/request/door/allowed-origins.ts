/** The origins of other sites whose pages may call model endpoints, and whether their requests may contain cookies. */
export type AllowedOrigins = ReadonlyMap<string, { readonly hasCredentials: boolean }>

/** An entry of the `allowedOrigins` option. */
export type AllowedOrigin = string | { readonly origin: string; readonly credentials?: boolean }

export const toAllowedOrigins = (entries: readonly AllowedOrigin[]): AllowedOrigins =>
  new Map(
    entries.map((entry) =>
      typeof entry === 'string'
        ? [entry, { hasCredentials: false }]
        : [entry.origin, { hasCredentials: entry.credentials === true }],
    ),
  )
