/** Creates a logger that records its messages. */
export function listeningLogger() {
  const lines: Array<{ level: 'info' | 'warn' | 'error'; message: string; data: Record<string, unknown> | undefined }> =
    []
  const at = (level: (typeof lines)[number]['level']) => (message: string, data?: Record<string, unknown>) =>
    void lines.push({ level, message, data })
  return { lines, info: at('info'), warn: at('warn'), error: at('error') }
}
