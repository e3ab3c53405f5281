"""What servers and clients used, as the engine measures it. Null: the host could not tell."""

from dbversus.results.records.base import Part


class ServerUsage(Part, frozen=True, kw_only=True):
    """What a server used. Foreground: threads or processes that serve our connections; background: all others.

    server_wait_ns: time in which its threads were ready to run and had no CPU
    server_switches: context switches
    server_minor_faults: page faults without reading
    server_major_faults: page faults that read from storage
    server_read_bytes: read from storage
    server_write_bytes: written to storage
    server_read_calls: system calls that read, from storage or not
    server_write_calls: system calls that write
    server_read_call_bytes: what such calls have read, from storage or the page cache
    server_write_call_bytes: what such calls have written, to storage or the page cache
    disk_reads: read requests to the disk that holds its data, of the server alone (where a remark says so, of the whole device)
    disk_writes: write requests to that disk
    disk_read_bytes: read from it
    disk_write_bytes: written to it
    device_reads: read requests that the whole device finished, whoever asked
    device_writes: write requests that it finished
    device_read_bytes: read from it
    device_write_bytes: written to it
    device_read_ns: time that its read requests took, from when they were queued, all together
    device_write_ns: time that its write requests took
    device_busy_ns: time in which it had requests under way
    device_queue_ns: the same times the number of requests under way
    """

    server_cpu_ns: int | None = None
    server_user_ns: int | None = None
    server_system_ns: int | None = None
    server_foreground_cpu_ns: int | None = None
    server_background_cpu_ns: int | None = None
    server_wait_ns: int | None = None
    server_switches: int | None = None
    server_minor_faults: int | None = None
    server_major_faults: int | None = None
    server_read_bytes: int | None = None
    server_write_bytes: int | None = None
    server_read_calls: int | None = None
    server_write_calls: int | None = None
    server_read_call_bytes: int | None = None
    server_write_call_bytes: int | None = None
    disk_reads: int | None = None
    disk_writes: int | None = None
    disk_read_bytes: int | None = None
    disk_write_bytes: int | None = None
    device_reads: int | None = None
    device_writes: int | None = None
    device_read_bytes: int | None = None
    device_write_bytes: int | None = None
    device_read_ns: int | None = None
    device_write_ns: int | None = None
    device_busy_ns: int | None = None
    device_queue_ns: int | None = None


class Usage(ServerUsage, frozen=True, kw_only=True):
    """What a server and the clients of the engine used.

    client_switches: context switches
    """

    client_cpu_ns: int | None = None
    client_user_ns: int | None = None
    client_system_ns: int | None = None
    client_switches: int | None = None
