/** Not the defaults, and nobody's machine's. Durability costs time, and the data is thrown away. */
const settings: Readonly<Record<string, string>> = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "400",
  shared_buffers: "256MB",
  max_wal_size: "2GB",
  fsync: "off",
  full_page_writes: "off",
  // Neither zero nor whole hours, so that a local time taken for UTC shows.
  timezone: "Asia/Kathmandu",
  log_timezone: "UTC",
  // /dev/shm has 64 MB in a container: too little for a parallel index build over a million rows.
  ...(process.platform === "linux" ? { dynamic_shared_memory_type: "mmap" } : {}),
};

/** The settings of a test server, as arguments; `overrides` come instead of those of the same name. */
export function serverSettings(overrides: Readonly<Record<string, string>> = {}): readonly string[] {
  return Object.entries({ ...settings, ...overrides }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}
