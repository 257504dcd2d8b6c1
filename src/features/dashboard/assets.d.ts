/**
 * The dashboard's files, by path relative to `/admin/`. The page itself has an empty path. The build generates this module (see dashboard.config.ts).
 */
declare module 'signalbox:dashboard' {
  export const files: Readonly<Record<string, { readonly type: string; readonly etag: string; readonly text: string }>>
}
