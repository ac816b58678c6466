"""The journal of a search: files of segments, from which an unfinished search resumes, and the table is assembled."""
